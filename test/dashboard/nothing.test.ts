import { expect, it } from 'vitest';
import { ALL_METRICS, METRICS, type MetricDefinition } from '#catalogue';
import { nothingOf } from '../../src/dashboard/tables/metrics.ts';
import { emptySums } from '../../src/reports/engine/group-table.ts';

it.each(ALL_METRICS)('shows %s of a day without data as reports compute it', (name) => {
  const metric: MetricDefinition = METRICS[name];
  const computed = 'value' in metric ? metric.value(emptySums(), 1) : Number(metric.nanos(emptySums()));
  expect(nothingOf(name)).toBe(computed);
});
