import { afterInstall, credited, otherSystem, outsideWindow } from './click-filters.ts';
import { clickId, deepLink, metaReferrer, referrer } from './named.ts';
import { probabilistic } from './probabilistic.ts';
import type { ClickFilter, MatchRule } from './rule.ts';
import { viewThrough } from './view-through.ts';

/** How the creative of a device is found: the first rule that finds one decides. */
export const MATCH_RULES: readonly MatchRule[] = [
  referrer,
  clickId,
  metaReferrer,
  deepLink,
  // Weaker than any name, and an impression weaker than any click.
  probabilistic,
  viewThrough,
];

/** Why a click leads to no device: the first filter that refuses it is named in the explanation. */
export const CLICK_FILTERS: readonly ClickFilter[] = [
  // In the order in which a person would ask.
  outsideWindow,
  credited,
  otherSystem,
  afterInstall,
];

/** The method of a device that no rule finds a creative for. */
export const ORGANIC = 'organic';

/** The method of a device that Apple attributes to an ad of Apple Ads, which is asked later than the rules: see `apple-ads.ts`. */
export const APPLE_ADS = 'apple_ads';

/** How a device was attributed, by the method that the API names. */
export const METHODS: Readonly<Record<string, { label: string; reason: string }>> = {
  ...Object.fromEntries(MATCH_RULES.map(({ method, label, reason }) => [method, { label, reason }])),
  [APPLE_ADS]: {
    label: 'Apple Ads',
    reason: 'Apple attributed the install to an ad of Apple Ads.',
  },
  [ORGANIC]: {
    label: 'Organic',
    reason: 'No click was named, and none was similar enough to this device.',
  },
};

export const ruleOf = (method: string): MatchRule | undefined =>
  MATCH_RULES.find((rule) => rule.method === method);
