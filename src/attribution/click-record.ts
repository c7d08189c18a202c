import * as z from 'zod';
import { ClickCountry, ClickParams, OS_FAMILIES } from '#catalogue';

// Made once each: a schema costs an isolate's start more than a hundred uses of it.
const text = (max: number) => z.string().min(1).max(max);
const [name, optionalText] = [text(64), text(64).optional()];
const size = z.number().positive().max(1e5).optional();

/**
 * What is learnt of a click, as the queue carries it: once from the request for the link, once from the landing page's
 * measurement. Any number of records of one click, in any order, make one row. Everything in it is bounded: whatever a browser
 * claims, a row stays small.
 */
export const ClickRecord = z.object({
  application_id: name,
  id: z.string().regex(/^clk_[0-9a-f]{32}$/),
  creative_id: name,
  os_family: z.enum(OS_FAMILIES),
  os_version: text(32).optional(),
  device_model: text(128).optional(),
  /** A keyed hash; the address itself goes nowhere. */
  ip_hash: optionalText,
  /** Of the request for the link only, as the edge and the link tell them. */
  country: ClickCountry.optional(),
  params: ClickParams.optional(),
  /** Only what was measured: a time zone by its canonical name, CSS pixels, device pixels to each. */
  timezone: optionalText,
  screen_width: size,
  screen_height: size,
  pixel_ratio: size,
});
export type ClickRecord = z.infer<typeof ClickRecord>;
