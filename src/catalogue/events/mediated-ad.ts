import * as z from 'zod';
import { type EventKind, line } from '../kind.ts';
import { segmentWithoutDevice } from '../segments.ts';
import { keys, nanos, optionalText, shard, storedWithoutDevice, text, warnings } from '../stored.ts';

const MediatedAd = storedWithoutDevice('mediation.ad', () => ({
  ad_id: text,
  source: text,
  media_source: optionalText,
  value_nanos: nanos,
  currency: text,
  country: optionalText,
  creative_id: z.null(),
  shard,
  keys,
  warnings,
}));
type MediatedAd = z.infer<typeof MediatedAd>;

/**
 * An ad impression that a mediation platform told of a device that is not known. Revenue by network and day is complete with it; figures of
 * devices do not change. That of a known device is a `custom.ad`.
 */
export const mediatedAd = {
  type: 'mediation.ad',
  label: 'Ad impression without device',
  description: 'An ad impression that a mediation platform told of a device that is not known.',
  subject: 'impression',
  stored: MediatedAd,
  wires: [],
  columns: [
    { name: 'value', type: 'money', field: 'value_nanos' },
    { name: 'currency', type: 'text' },
    { name: 'ad_id', type: 'text' },
    { name: 'source', type: 'text' },
    { name: 'media_source', type: 'text' },
  ],
  keepsKeys: false,
  steps: {},
  amountOf: ({ value_nanos: nanos, currency }) => ({ of: 'impression', nanos, currency }),
  count({ currency, source, media_source = '', ad_id: placement, value_nanos: ad_revenue }, into) {
    const amounts = { impressions: 1, ad_revenue };
    into.addDaily(amounts, currency);
    into.addAds({ currency, source, media_source, placement }, amounts);
  },
  segmentOf: segmentWithoutDevice,
  stepOf: () => null,
  outboundAs: () => 'ad',
  summarise: ({ source, media_source, ad_id }, amount) => line(amount, source, media_source, ad_id),
} as const satisfies EventKind<MediatedAd>;
