import type { DimensionName } from './dimensions.ts';

/** Networks and mediators as they write their own names, by the value of `media_source`. */
const NETWORK_NAMES: Readonly<Record<string, string>> = {
  adcolony: 'AdColony',
  admob: 'AdMob',
  amazon: 'Amazon',
  applovin: 'AppLovin',
  applovin_max: 'AppLovin MAX',
  aps: 'Amazon Publisher Services',
  bidmachine: 'BidMachine',
  bigo: 'BIGO Ads',
  bytedance: 'Pangle',
  chartboost: 'Chartboost',
  digitalturbine: 'Digital Turbine',
  facebook: 'Meta',
  fyber: 'DT Exchange',
  google: 'Google',
  google_ad_manager: 'Google Ad Manager',
  inmobi: 'InMobi',
  ironsource: 'ironSource',
  levelplay: 'LevelPlay',
  liftoff: 'Liftoff',
  max: 'AppLovin MAX',
  meta: 'Meta',
  meta_an: 'Meta',
  mintegral: 'Mintegral',
  mobilefuse: 'MobileFuse',
  moloco: 'Moloco',
  mytarget: 'myTarget',
  ogury: 'Ogury',
  pangle: 'Pangle',
  smaato: 'Smaato',
  snap: 'Snap',
  tapjoy: 'Tapjoy',
  tiktok: 'TikTok',
  unity: 'Unity Ads',
  unity_ads: 'Unity Ads',
  unityads: 'Unity Ads',
  verve: 'Verve',
  vungle: 'Vungle',
  yandex: 'Yandex',
};

const FORMAT_NAMES: Readonly<Record<string, string>> = {
  app_open: 'App open',
  banner: 'Banner',
  interstitial: 'Interstitial',
  mrec: 'MREC',
  native: 'Native',
  offerwall: 'Offerwall',
  rewarded: 'Rewarded',
  rewarded_interstitial: 'Rewarded interstitial',
  rewarded_video: 'Rewarded video',
};

const OS_NAMES: Readonly<Record<string, string>> = {
  ios: 'iOS',
  ipados: 'iPadOS',
  macos: 'macOS',
  tvos: 'tvOS',
};

const regions = new Intl.DisplayNames('en', { type: 'region' });
const LETTERS = [...'abcdefghijklmnopqrstuvwxyz'];
const COUNTRY_CODES = LETTERS.flatMap((first) => LETTERS.map((second) => first + second));

const named = (names: Readonly<Record<string, string>>, value: string) =>
  Object.hasOwn(names, value) ? names[value] : undefined;

const capitalised = (text: string) => text.slice(0, 1).toUpperCase() + text.slice(1);

/** The code where it is no country that anyone knows. */
function countryName(code: string): string {
  if (!/^[a-z]{2}$/i.test(code)) return capitalised(code);
  return regions.of(code.toUpperCase()) ?? code.toUpperCase();
}

const OF_CREATIVES: ReadonlySet<DimensionName> = new Set(['creative', 'adset', 'campaign']);

/**
 * What people call a value of a dimension: `AdMob` for `admob`, `Germany` for `de`. An unknown network or format is called as it
 * was sent. Empty text is a group without a value.
 */
export function valueName(dimension: DimensionName, value: string): string {
  if (value === '') return OF_CREATIVES.has(dimension) ? 'Organic' : 'None';
  if (dimension === 'hour') return value.slice(0, 16).replace('T', ' ');
  if (dimension === 'media_source') return named(NETWORK_NAMES, value) ?? value;
  if (dimension === 'source') return named(FORMAT_NAMES, value) ?? value;
  if (dimension === 'country') return countryName(value);
  if (dimension === 'os') return named(OS_NAMES, value) ?? capitalised(value);
  return value;
}

/** The values whose names are more than another way to write them. */
const NAMED_VALUES: Readonly<Partial<Record<DimensionName, readonly string[]>>> = {
  media_source: Object.keys(NETWORK_NAMES),
  source: Object.keys(FORMAT_NAMES),
  country: COUNTRY_CODES,
};

/** The values of a dimension with a text in their names, in any case. Those that are called as they are written are left out. */
export function valuesCalled(dimension: DimensionName, text: string): string[] {
  const wanted = text.toLowerCase();
  return ['', ...(NAMED_VALUES[dimension] ?? [])].filter((value) =>
    valueName(dimension, value).toLowerCase().includes(wanted),
  );
}
