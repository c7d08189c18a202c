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

const named = (names: Readonly<Record<string, string>>, value: string) =>
  Object.hasOwn(names, value) ? (names[value] ?? value) : value;

/** A network's name as people write it; an unknown one is shown as it was sent. */
export const networkName = (value: string): string => named(NETWORK_NAMES, value);

/** An ad format's name; an unknown one is shown as it was sent. */
export const adFormatName = (value: string): string => named(FORMAT_NAMES, value);
