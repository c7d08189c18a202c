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
  /** What the device's parameter holds: a device token, the `device_id` of `/fetch-token`, or the id of the click that brought the device. */
  device_is: 'token' | 'device_id' | 'click_id';
  network: string | null;
  placement: string | null;
  ad_format: string | null;
  country: string | null;
  time: string | null;
};

export type ImpressionPreset = {
  label: string;
  template: ImpressionTemplate;
  /** What to add to the address, with the platform's macros. */
  query: string;
  /** What is not confirmed by the platform's own documentation or a test. */
  unverified: readonly string[];
};

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

/** By the name of the preset. */
export const IMPRESSION_PRESETS = {
  max: {
    label: 'AppLovin MAX',
    template: { ...SHARED, amount: 'revenue', scale: 'unit', time: null },
    query:
      'id={EVENT_ID}&revenue={REVENUE}&network={NETWORK_NAME}&placement={AD_UNIT_ID}&country={CC}&device={USER_ID}',
    unverified: ['The name of the macro {REVENUE}: AppLovin gives the list when it enables the callback.'],
  },
  tradplus: {
    label: 'TradPlus',
    template: { ...SHARED, amount: 'ecpm', scale: 'ecpm', time: 'time' },
    query:
      'id={trans_id}&ecpm={ecpm}&network={network_id}&placement={unit_id}&country={iso_code}&device={user_id}&time={ts}',
    unverified: ['TradPlus names networks by number.'],
  },
} as const satisfies Record<string, ImpressionPreset>;

/** The name of the preset with this template; null if there is none. */
export function presetOf(template: Readonly<Record<string, string | null>>): string | null {
  const found = Object.entries(IMPRESSION_PRESETS).find(([, preset]) =>
    Object.entries(preset.template).every(([fact, value]) => template[fact] === value),
  );
  return found?.[0] ?? null;
}

/** What an example address has in the place of a macro, by the fact that it tells. */
const MACRO_NAMES = {
  id: 'IMPRESSION_ID',
  amount: 'AMOUNT',
  currency: 'CURRENCY',
  device: 'DEVICE',
  network: 'NETWORK',
  placement: 'PLACEMENT',
  ad_format: 'AD_FORMAT',
  country: 'COUNTRY',
  time: 'TIME',
} as const;

/** An address for a template, with a name in braces for each macro: a call as it is would be refused. `secret` is the application's intake secret. */
export function exampleAddress(
  origin: string,
  secret: string,
  template: Readonly<Record<string, string | null>>,
): string {
  const query = Object.entries(MACRO_NAMES).flatMap(([fact, macro]) =>
    template[fact] ? [`${template[fact]}={${macro}}`] : [],
  );
  return `${origin}/impression/${secret}?${query.join('&')}`;
}

/** The address that a platform calls for each impression, with its macros. `secret` is the application's intake secret. */
export const impressionAddress = (origin: string, secret: string, { query }: ImpressionPreset): string =>
  `${origin}/impression/${secret}?${query}`;
