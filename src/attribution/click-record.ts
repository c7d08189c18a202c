import * as z from 'zod';
import { ClickCountry, ClickParams, OS_FAMILIES } from '#catalogue';

const text = (max: number) => z.string().min(1).max(max);

/**
 * Facts about a click or an impression, as the queue carries them: one record from the request for the link, another from the landing page's measurement.
 * Any number of records of one click, in any order, make one row. Every field is bounded, so a row stays small whatever a browser claims.
 */
// Built on first use, like other schemas that not every isolate needs: building schemas is most of an isolate's start.
export const ClickRecord = z.lazy(() => {
  const [name, optionalText] = [text(64), text(64).optional()];
  const size = z.number().positive().max(1e5).optional();
  return z.object({
    application_id: name,
    id: z.string().regex(/^(?:clk|imp)_[0-9a-f]{32}$/),
    creative_id: name,
    os_family: z.enum(OS_FAMILIES),
    os_version: text(32).optional(),
    device_model: text(128).optional(),
    /** A keyed hash. The address itself is never sent. */
    ip_hash: optionalText,
    /** Only in the record of the request for the link, from the edge, the link and its query. */
    country: ClickCountry.optional(),
    params: ClickParams.optional(),
    network: optionalText,
    /** Only in the record of the measurement: a canonical time zone name, CSS pixels, device pixels per CSS pixel. */
    timezone: optionalText,
    screen_width: size,
    screen_height: size,
    pixel_ratio: size,
  });
});
export type ClickRecord = z.infer<typeof ClickRecord>;
