/**
 * Where the facts of an impression are in a mediation platform's callback: names of query parameters, null for what it does not tell. `scale`:
 * what the amount is of. `unit`: of the impression, in units of the currency; `micros`: in millionths; `ecpm`: of a thousand impressions.
 */
export type ImpressionTemplate = {
  amount: string;
  scale: 'unit' | 'micros' | 'ecpm';
  /** The parameter of the currency, and the currency of those that have none. */
  currency: string | null;
  default_currency: string;
  /** Identifies the impression, so that a repeated callback counts once. */
  id: string;
  device: string | null;
  /** What the device's parameter holds: a device token, or the `device_id` of `/fetch-token`. */
  device_is: 'token' | 'device_id';
  network: string | null;
  placement: string | null;
  ad_format: string | null;
  country: string | null;
  time: string | null;
};

type Preset = { label: string; template: ImpressionTemplate; query: string; unverified: readonly string[] };

const SHARED = {
  currency: null,
  default_currency: 'usd',
  id: 'id',
  device: 'device',
  device_is: 'device_id',
  network: 'network',
  placement: 'placement',
  ad_format: null,
  country: 'country',
} as const;

/** By the name of the preset. `query` is what to add to the address, with the platform's macros. */
export const IMPRESSION_PRESETS = {
  max: {
    label: 'AppLovin MAX',
    template: { ...SHARED, amount: 'revenue', scale: 'unit', time: null },
    query:
      'id={EVENT_ID}&revenue={REVENUE}&network={NETWORK_NAME}&placement={AD_UNIT_ID}&country={CC}&device={USER_ID}',
    unverified: ['The name of the macro `{REVENUE}`: AppLovin gives the list when it enables the callback.'],
  },
  tradplus: {
    label: 'TradPlus',
    template: { ...SHARED, amount: 'ecpm', scale: 'ecpm', time: 'time' },
    query:
      'id={trans_id}&ecpm={ecpm}&network={network_id}&placement={unit_id}&country={iso_code}&device={user_id}&time={ts}',
    unverified: ['TradPlus names networks by number.'],
  },
} as const satisfies Record<string, Preset>;
