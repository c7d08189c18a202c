import { capitalized } from '#lib/format';
import { containsText } from '#lib/search';
import { MEDIA_SOURCE_NAMES, OTHER_NETWORKS } from '#networks';
import type { DimensionName } from './dimensions.ts';
import { ofDimensions, SEGMENT_DIMENSIONS } from './segments.ts';

/** The names of networks and mediators as they write them, by `media_source`. */
const NETWORK_NAMES: Readonly<Record<string, string>> = Object.fromEntries([
  ...OTHER_NETWORKS.flatMap(({ id, name, aliases = [] }) => [id, ...aliases].map((known) => [known, name])),
  ...Object.entries(MEDIA_SOURCE_NAMES),
]);

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

// Loaded on first use, for the dashboard: loading the names takes half as long as the rest of an isolate's start.
let regions: Intl.DisplayNames | undefined;
const LETTERS = [...'abcdefghijklmnopqrstuvwxyz'];
const COUNTRY_CODES = LETTERS.flatMap((first) => LETTERS.map((second) => first + second));

const named = (names: Readonly<Record<string, string>>, value: string) =>
  Object.hasOwn(names, value) ? names[value] : undefined;

/** The name of a country; the code if it is not a known country. */
function countryName(code: string): string {
  if (!/^[a-z]{2}$/i.test(code)) return capitalized(code);
  regions ??= new Intl.DisplayNames('en', { type: 'region' });
  return regions.of(code.toUpperCase()) ?? code.toUpperCase();
}

/** What a group without a value is called. The network of a device that an ad brought may be unknown. */
const NOTHING_NAMES: Readonly<Partial<Record<DimensionName, string>>> = {
  ...{ creative: 'Organic', adset: 'Organic', campaign: 'Organic' },
  ...ofDimensions(SEGMENT_DIMENSIONS, () => 'Unknown'),
  network: 'Organic or unknown',
};

/**
 * The name of a dimension's value: `AdMob` for `admob`, `Germany` for `de`. Unknown networks and formats are shown as sent. Empty text is a
 * group without a value.
 */
export function valueName(dimension: DimensionName, value: string): string {
  if (value === '') return NOTHING_NAMES[dimension] ?? 'None';
  if (dimension === 'hour') return value.slice(0, 16).replace('T', ' ');
  if (dimension === 'media_source' || dimension === 'network') return named(NETWORK_NAMES, value) ?? value;
  if (dimension === 'source') return named(FORMAT_NAMES, value) ?? value;
  if (dimension === 'country') return countryName(value);
  if (dimension === 'currency') return value.toUpperCase();
  if (dimension === 'os') return named(OS_NAMES, value) ?? capitalized(value);
  return value;
}

/** Values whose names differ in more than spelling. */
const NAMED_VALUES: Readonly<Partial<Record<DimensionName, readonly string[]>>> = {
  media_source: Object.keys(NETWORK_NAMES),
  network: Object.keys(NETWORK_NAMES),
  source: Object.keys(FORMAT_NAMES),
  country: COUNTRY_CODES,
};

/** The values of a dimension whose names contain a text, in any case, except values that are their own names. */
export function findValuesByName(dimension: DimensionName, text: string): string[] {
  return ['', ...(NAMED_VALUES[dimension] ?? [])].filter((value) =>
    containsText(valueName(dimension, value), text),
  );
}
