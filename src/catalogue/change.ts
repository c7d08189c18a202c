import { METRICS, type Metric } from './metrics.ts';

/**
 * How a metric changed: `share` of the earlier value, `points` of a percentage (0.01 is one), or the `amount` itself, where a share would have no
 * meaning: from or to nothing or a loss.
 */
export type Change = { in: 'share' | 'points' | 'amount'; by: number };

/** Null if a value is unknown, or if there is nothing before and after. */
export function changeOf(metric: Metric, now: number | null, before: number | null): Change | null {
  if (now === null || before === null || (now === 0 && before === 0)) return null;
  if (METRICS[metric].unit === 'percent') return { in: 'points', by: now - before };
  return now <= 0 || before <= 0 ? { in: 'amount', by: now - before } : { in: 'share', by: now / before - 1 };
}
