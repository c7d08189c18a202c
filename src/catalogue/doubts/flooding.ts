// Click flooding: a source that reports clicks for everybody is credited with people who would have installed anyway. Hardly any of its clicks
// lead to an install, and installs come long after their click, evenly over the days. It shows in a day of a source, not in one install.
// Source of the thresholds: OpenMasu, fraud bundle conservative-v1.

import type { DoubtRule, SourceDayFacts } from './rule.ts';

export const FLOODING = {
  /** A day of a source with fewer clicks is not judged. */
  minClicks: 1_000,
  /** With fewer such days, there is no usual conversion to compare with. */
  minDays: 3,
  /** Of more days of sources, those with the most clicks are judged. */
  maxDays: 500,
  minMedianSeconds: 86_400,
  /** The 95th percentile of the time from the click to the first open / its median. */
  maxSpread: 3,
} as const;

/** The clicks of a source on one day, and the installs of that day that are credited to its clicks. */
export type SourceDay = {
  day: string;
  clicks: number;
  /** Seconds from the click to the first open, and how many installs took as long; in any order, the same time several times. */
  delays: readonly { seconds: number; installs: number }[];
};

/** The days before the present one, by the ids of the creatives that had enough clicks. `day` is in the application's time zone. */
export type JudgedSources = { day: string; creatives: Readonly<Record<string, SourceDayFacts>> };

/** Measures days of sources, each with at least `minClicks`, against each other; null if there are too few. */
export function measureSourceDays(days: readonly SourceDay[]): SourceDayFacts[] | null {
  const measured = days.map(({ day, clicks, delays }) => {
    const counted = delays.map(({ seconds, installs }) => ({ value: seconds, count: installs }));
    return {
      ...{ day, clicks, installs: counted.reduce((sum, { count }) => sum + count, 0) },
      ...{ median_seconds: percentile(counted, 0.5), p95_seconds: percentile(counted, 0.95) },
    };
  });
  const conversions = measured.map(({ clicks, installs }) => ({ value: installs / clicks, count: 1 }));
  const usual = days.length < FLOODING.minDays ? null : percentile(conversions, 0.5);
  return usual === null ? null : measured.map((one) => ({ ...one, usual_conversion: usual }));
}

/** `maxShare`: of the usual conversion, in percent. A day without installs tells nothing of when they come. */
export const isFlooded = (
  { clicks, installs, usual_conversion, median_seconds: median, p95_seconds: p95 }: SourceDayFacts,
  maxShare: number,
): boolean =>
  median !== null &&
  p95 !== null &&
  (100 * installs) / clicks <= maxShare * usual_conversion &&
  median >= FLOODING.minMedianSeconds &&
  p95 <= FLOODING.maxSpread * median;

export const clickFlooding: DoubtRule = {
  id: 'click_flooding',
  version: 1,
  label: 'Creative with click flooding',
  threshold: { label: 'Conversion in percent of the usual', fallback: 20, min: 1, max: 100 },
  check: ({ source_day: source }, threshold) => {
    if (!source || source.median_seconds === null) return undefined;
    if (!isFlooded(source, threshold)) return null;
    const { day, clicks, installs, usual_conversion: usual, median_seconds: median } = source;
    const share = Math.round((100 * installs) / clicks / usual);
    return `its creative had ${clicks} clicks but ${installs} ${installs === 1 ? 'install' : 'installs'} on ${day}, ${share} % of the usual conversion, and they came evenly, ${Math.round(median / 3_600)} h after the click in the median`;
  },
};

/** The smallest value that this share of the values does not exceed; null without values. */
function percentile(counted: readonly { value: number; count: number }[], share: number): number | null {
  const sorted = counted.toSorted((left, right) => left.value - right.value);
  let left = share * sorted.reduce((sum, { count }) => sum + count, 0);
  for (const { value, count } of sorted) {
    left -= count;
    if (left <= 0) return value;
  }
  return null;
}
