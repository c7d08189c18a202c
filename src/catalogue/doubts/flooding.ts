// Click flooding: a source that reports clicks for everybody is credited with people who would have installed anyway. Hardly any of its clicks
// lead to an install, and installs come long after their click, evenly over the days. It shows in a day of a source, not in one install.
// Source of the thresholds: OpenMasu, fraud bundle conservative-v1.

export const FLOODING = {
  /** A day of a source with fewer clicks is not judged. */
  minClicks: 1_000,
  /** With fewer such days, there is no usual conversion to compare with. */
  minDays: 3,
  /** Of the median conversion. */
  maxShareOfMedian: 0.2,
  minMedianSeconds: 86_400,
  /** The 95th percentile of the time from the click to the first open / its median. */
  maxSpread: 3,
} as const;

/** The clicks of a source on one day, and the installs of that day that are credited to its clicks. */
export type SourceDay = {
  clicks: number;
  /** Seconds from the click to the first open, and how many installs took as long; in any order, the same time several times. */
  delays: readonly { seconds: number; installs: number }[];
};

export type JudgedDay<Day extends SourceDay> = {
  of: Day;
  installs: number;
  conversion: number;
  /** Null without installs. */
  medianSeconds: number | null;
  p95Seconds: number | null;
  isFlooded: boolean;
};

/** Judges the days of sources that have enough clicks. `medianConversion` is null, and no day is flooded, if there are too few. */
export function judgeSourceDays<Day extends SourceDay>(
  days: readonly Day[],
): { medianConversion: number | null; judged: JudgedDay<Day>[] } {
  const measured = days
    .filter(({ clicks }) => clicks >= FLOODING.minClicks)
    .map((of) => {
      const installs = of.delays.reduce((sum, delay) => sum + delay.installs, 0);
      return { of, installs, conversion: installs / of.clicks };
    });
  const conversions = measured.map(({ conversion }) => ({ value: conversion, count: 1 }));
  const median = measured.length < FLOODING.minDays ? null : percentile(conversions, 0.5);
  const judged = measured.map((day) => {
    const delays = day.of.delays.map(({ seconds, installs }) => ({ value: seconds, count: installs }));
    const [medianSeconds, p95Seconds] = [percentile(delays, 0.5), percentile(delays, 0.95)];
    const isFlooded =
      median !== null &&
      medianSeconds !== null &&
      p95Seconds !== null &&
      day.conversion <= FLOODING.maxShareOfMedian * median &&
      medianSeconds >= FLOODING.minMedianSeconds &&
      p95Seconds <= FLOODING.maxSpread * medianSeconds;
    return { ...day, medianSeconds, p95Seconds, isFlooded };
  });
  return { medianConversion: median, judged };
}

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
