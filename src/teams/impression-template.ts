import * as z from 'zod';
import { currencyCode, oneOf } from '#http';
import { IMPRESSION_PRESETS, type ImpressionTemplate } from '#networks';

const PRESETS = Object.keys(IMPRESSION_PRESETS) as [keyof typeof IMPRESSION_PRESETS];

const PARAMETER = 'must be the name of a query parameter, of at most 64 letters, digits, - and _';
const parameter = z.string({ error: PARAMETER }).regex(/^[\w-]{1,64}$/, PARAMETER);
const optional = () => parameter.nullish().transform((name) => name ?? null);

/** Where each fact is. */
export const OwnImpressionTemplate = z.object({
  amount: parameter,
  scale: oneOf(['unit', 'micros', 'ecpm']),
  currency: optional(),
  default_currency: currencyCode().default('usd'),
  id: parameter,
  device: optional(),
  device_is: oneOf(['token', 'device_id', 'click_id']).default('device_id'),
  network: optional(),
  placement: optional(),
  ad_format: optional(),
  country: optional(),
  time: optional(),
});

/** `{"preset": "max"}`, or where each fact is. */
export const ImpressionTemplateChoice = z
  .union([z.object({ preset: oneOf(PRESETS) }), OwnImpressionTemplate], {
    error: `must be {"preset": ${PRESETS.map((name) => `"${name}"`).join(' or ')}}, or an object with amount, scale and id`,
  })
  .transform(
    (sent): ImpressionTemplate => ('preset' in sent ? IMPRESSION_PRESETS[sent.preset].template : sent),
  )
  .nullable();
