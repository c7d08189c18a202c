import * as z from 'zod';
import {
  currencyCodeOfAnyDay,
  optionalNameOrNumber,
  optionalNumber,
  requiredNameOrNumber,
  requiredNumber,
} from '#lib/input/fields';
import { descriptive, naming, replaceable } from '#lib/input/leniency';
import { fromNanos, MAX_AMOUNT, toNanos } from '#lib/money';
import { type EventKind, line } from '../kind.ts';
import { nanos, type OwnFields, optionalText, storedOfDevice, text } from '../stored.ts';
import { flag, grouping, payload, runningTotal, telling, UNKNOWN, wireForm } from '../wire.ts';

const AdView = storedOfDevice('custom.ad', () => ({
  ad_id: text,
  name: optionalText,
  source: text,
  media_source: optionalText,
  channel: optionalText,
  watch_time: z.number().optional(),
  reward: z.boolean().optional(),
  value_nanos: nanos,
  /** Empty if unknown; the revenue is then 0. */
  currency: z.string(),
  total_ad_value: z.number().optional(),
}));
type AdView = z.infer<typeof AdView>;

const lowerCase = (name: string) => name.toLowerCase();
const isUndefined = (value: unknown) => value === undefined;

const asAd = wireForm(
  'custom.ad',
  payload({
    ad_id: grouping(),
    name: descriptive(optionalNameOrNumber()),
    source: replaceable(telling(requiredNameOrNumber().transform(lowerCase)), UNKNOWN),
    media_source: descriptive(naming(optionalNameOrNumber().transform((name) => name && lowerCase(name)))),
    channel: descriptive(naming(optionalNameOrNumber())),
    watch_time: descriptive(optionalNumber(Number.MAX_SAFE_INTEGER)),
    reward: descriptive(flag()),
    /** Some networks send -1 or no currency if they do not know the revenue of an impression. */
    value: replaceable(requiredNumber(MAX_AMOUNT), 0, {
      effect: 'revenue counted as 0',
      isAbsent: isUndefined,
    }),
    currency: replaceable(currencyCodeOfAnyDay(), '', {
      effect: 'revenue counted as 0',
      isAbsent: isUndefined,
    }),
    total_ad_value: runningTotal(),
  }),
  {
    examples: {
      'custom.ad': {
        ad_id: 'level_end',
        name: 'Level end',
        source: 'rewarded_video',
        media_source: 'admob',
        channel: 'paid',
        watch_time: 30,
        reward: true,
        value: 0.0125,
        currency: 'usd',
        total_ad_value: 0.0125,
      },
    },
    toStored: ({ value, ...rest }): OwnFields<AdView> => ({
      value_nanos: rest.currency === '' ? 0 : Number(toNanos(value)),
      ...rest,
    }),
  },
);

/** An ad impression and its revenue. */
export const ad = {
  type: 'custom.ad',
  label: 'Ad impression',
  description: 'An ad impression and its revenue.',
  subject: 'device',
  stored: AdView,
  wires: [asAd],
  columns: [
    { name: 'value', type: 'money', field: 'value_nanos' },
    { name: 'currency', type: 'text' },
    { name: 'ad_id', type: 'text' },
    { name: 'name', type: 'text' },
    { name: 'source', type: 'text' },
    { name: 'media_source', type: 'text' },
    { name: 'channel', type: 'text' },
    { name: 'watch_time', type: 'double' },
    { name: 'reward', type: 'boolean' },
    { name: 'total_ad_value', type: 'double' },
  ],
  keepsKeys: false,
  steps: { ad: 'Ad impression' },
  clientTotal: {
    of: 'ad',
    claimed: ({ total_ad_value }) => total_ad_value,
    earned: ({ value_nanos }) => value_nanos,
    currencyOf: ({ currency }) => currency,
  },
  amountOf: ({ value_nanos: nanos, currency }) => ({ of: 'impression', nanos, currency }),
  count({ currency, source, media_source = '', ad_id: placement, value_nanos: ad_revenue }, into) {
    const amounts = { impressions: 1, ad_revenue };
    into.addDaily(amounts, currency);
    into.addAds({ currency, source, media_source, placement }, amounts);
    into.addRevenue(currency, { ad_revenue });
  },
  stepOf: () => 'ad',
  outboundAs: () => 'ad',
  summarise: ({ source, media_source, ad_id }, amount) => line(amount, source, media_source, ad_id),
  toWire(event) {
    const { ad_id, name, source, media_source, channel, watch_time, reward, currency, total_ad_value } =
      event;
    const value = fromNanos(BigInt(event.value_nanos));
    const described = { ad_id, name, source, media_source, channel, watch_time, reward };
    return { type: 'custom.ad', payload: { ...described, value, currency, total_ad_value } };
  },
} as const satisfies EventKind<AdView>;
