// The simulated game. Amounts are US dollars unless a currency is given. The levels are typical of casual games: eCPMs from a few cents
// (banner) to a few dollars (rewarded video), and one player in forty pays.

export type Country = {
  /** ISO 3166. */
  code: string;
  timezone: string;
  currency: string;
  utcOffset: string;
  weight: number;
  /** The value of its players to advertisers, relative to the first country. */
  value: number;
};

export const COUNTRIES: readonly Country[] = [
  { code: 'us', timezone: 'America/New_York', currency: 'usd', utcOffset: '-05:00', weight: 34, value: 1 },
  { code: 'de', timezone: 'Europe/Berlin', currency: 'eur', utcOffset: '+01:00', weight: 22, value: 0.75 },
  { code: 'gb', timezone: 'Europe/London', currency: 'gbp', utcOffset: '+00:00', weight: 12, value: 0.85 },
  { code: 'jp', timezone: 'Asia/Tokyo', currency: 'jpy', utcOffset: '+09:00', weight: 14, value: 0.9 },
  { code: 'br', timezone: 'America/Sao_Paulo', currency: 'brl', utcOffset: '-03:00', weight: 18, value: 0.2 },
];

/** Units of a currency per dollar at the start of the history. */
export const UNITS_PER_DOLLAR: Readonly<Record<string, number>> = {
  usd: 1,
  eur: 0.92,
  gbp: 0.79,
  jpy: 152,
  brl: 5.6,
};

export type Format = {
  source: string;
  placement: string;
  /** Average eCPM and impressions per session. */
  ecpm: number;
  perSession: number;
  fillRate: number;
};

export const FORMATS: readonly Format[] = [
  { source: 'banner', placement: 'main_banner', ecpm: 0.45, perSession: 3, fillRate: 0.97 },
  { source: 'native', placement: 'feed', ecpm: 1.6, perSession: 0.4, fillRate: 0.9 },
  { source: 'interstitial', placement: 'level_end', ecpm: 6.5, perSession: 0.9, fillRate: 0.88 },
  { source: 'app_open', placement: 'start', ecpm: 4.2, perSession: 0.3, fillRate: 0.8 },
  { source: 'rewarded_video', placement: 'extra_life', ecpm: 13, perSession: 0.5, fillRate: 0.92 },
];

/** Networks by how often they win the auction, and what they pay relative to the format's average. */
export const NETWORKS: readonly (readonly [{ name: string; pays: number }, number])[] = [
  [{ name: 'admob', pays: 0.95 }, 34],
  [{ name: 'applovin', pays: 1.2 }, 26],
  [{ name: 'unity_ads', pays: 0.9 }, 14],
  [{ name: 'ironsource', pays: 1 }, 12],
  [{ name: 'meta_an', pays: 1.3 }, 8],
  [{ name: 'vungle', pays: 0.85 }, 6],
];

export type ShopItem = { id: string; name: string; price: number };

export const ITEMS: readonly (readonly [ShopItem, number])[] = [
  [{ id: 'gems_100', name: '100 gems', price: 1.99 }, 50],
  [{ id: 'starter_pack', name: 'Starter pack', price: 4.99 }, 30],
  [{ id: 'gems_1200', name: '1,200 gems', price: 9.99 }, 14],
  [{ id: 'season_pass', name: 'Season pass', price: 19.99 }, 6],
];

/** `dpi` and pixels as the platform's SDK reports them. */
export type Model = { name: string; os: string; dpi: number; width: number; height: number };

const android = (name: string): Model => ({ name, os: 'Android 16', dpi: 420, width: 1080, height: 2400 });
const iphone = (name: string, os: string): Model => ({ name, os, dpi: 460, width: 1179, height: 2556 });

export const MODELS: readonly (readonly [Model, number])[] = [
  [android('Pixel 9'), 12],
  [android('SM-S931B'), 20],
  [android('SM-A556B'), 18],
  [android('Xiaomi 15'), 9],
  [android('moto g85'), 7],
  [iphone('iPhone17,3', 'iOS 26.1'), 20],
  [iphone('iPhone15,4', 'iOS 18.6'), 14],
];

export const isIos = ({ os }: Model): boolean => os.startsWith('iOS');

/** Activity by weekday, starting on Sunday like `getUTCDay`. Weekends are the best days. */
export const WEEKDAYS = [1.18, 0.92, 0.9, 0.92, 0.97, 1.06, 1.2];

/** Two thirds of the devices come from an ad. */
export const PAID_SHARE = 0.66;
export const PAYER_SHARE = 0.025;

export type SimulatedCreative = {
  creative: string;
  campaign: string;
  adset: string;
  quality: number;
  network: string;
};

const NETWORK_OF_CAMPAIGN: Readonly<Record<string, string>> = {
  'Video prospecting': 'meta',
  Playables: 'applovin',
  Brand: 'tiktok',
};

/** The first creative brings the most devices, and the others fewer by Zipf's law. */
export const CREATIVES: readonly SimulatedCreative[] = [
  ['Fail compilation', 'Video prospecting', 'Broad 18-44', 0.9],
  ['Satisfying loop', 'Video prospecting', 'Broad 18-44', 1],
  ['Noob vs pro', 'Video prospecting', 'Lookalike 1 %', 1.25],
  ['Playable level 1', 'Playables', 'Casual gamers', 1.1],
  ['Cat mascot', 'Brand', 'Retargeting', 1.4],
  ['Puzzle close-up', 'Video prospecting', 'Puzzle fans', 1.15],
  ['Playable boss fight', 'Playables', 'Casual gamers', 1],
  ['Story trailer', 'Brand', 'Broad 18-44', 0.8],
  ['Offer banner', 'Brand', 'Retargeting', 1.6],
  ['Player review', 'Video prospecting', 'Lookalike 1 %', 0.95],
].map(
  ([creative, campaign, adset, quality]) =>
    ({
      creative,
      campaign,
      adset,
      quality,
      network: NETWORK_OF_CAMPAIGN[`${campaign}`],
    }) as SimulatedCreative,
);

/**
 * When a device leaves for good, in days since its acquisition. 62 % stay until day 1, 33 % until day 7 and 21 % until day 30, and more if the
 * creative is better. `chance` is a random number from 0 to 1.
 */
export const leavesAfter = (chance: number, quality: number) =>
  ((0.62 * quality ** 0.4) / (1 - chance)) ** (1 / 0.32);

/** The probability that a device that has not left is active on a day. Overall: 41 % on day 1, 16 % on day 7, 8 % on day 30. */
export const activeOn = (age: number) => 0.66 * age ** -0.15;
