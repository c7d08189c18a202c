import * as z from 'zod';
import { OS_FAMILIES } from './device.ts';

const text = z.string().min(1);
const optional = <Schema extends z.ZodType>(schema: Schema) => schema.optional();

/**
 * What is learnt of a click, as the queue carries it: once from the request for the link, once from the landing page's
 * measurement. Any number of records of one click, in any order, make one row.
 */
export const ClickRecord = z.object({
  application_id: text,
  id: z.string().regex(/^clk_[0-9a-f]{32}$/),
  creative_id: text,
  os_family: z.enum(OS_FAMILIES),
  os_version: optional(text),
  device_model: optional(text),
  /** A keyed hash; the address itself goes nowhere. */
  ip_hash: optional(text),
  /** Only what was measured: a time zone by its canonical name, CSS pixels, device pixels to each. */
  timezone: optional(text),
  screen_width: optional(z.number().positive()),
  screen_height: optional(z.number().positive()),
  pixel_ratio: optional(z.number().positive()),
});
export type ClickRecord = z.infer<typeof ClickRecord>;
