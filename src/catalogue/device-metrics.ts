import { fromNanos } from '#lib/money';
import { from } from './metric.ts';
import { per } from './sums.ts';

// Metrics of distinct devices, which only the state of each device tells: figures of days cannot be added up to them.

/** The days of a month of `mau`, the last one included: four whole weeks, so that every month has the same days of the week. */
export const MAU_DAYS = 28;

const MISSING = 'by creative, ad set or campaign together with day; in the row other of a report by time';

/** The metrics of the performance report that are computed from the state of devices, and only if they are asked for. */
export const OF_DEVICE_STATE = {
  mau: from(['monthlyActive'], {
    label: 'MAU',
    kind: 'distinct',
    unit: 'count',
    missing: MISSING,
    hint: `Devices active in the ${MAU_DAYS} days up to the last day of the row`,
    definition: `Monthly active users: distinct devices with any event, their acquisition included, in the ${MAU_DAYS} days that end with the last day of the row, or with today if that is earlier.`,
    source: 'https://statsig.com/glossary/mau',
    value: (sums) => sums.monthlyActive,
  }),
  stickiness: from(['activeDevices', 'monthlyActive'], {
    label: 'Stickiness',
    kind: 'ratio',
    unit: 'percent',
    formula: 'dau / mau',
    missing: MISSING,
    hint: 'DAU / MAU',
    definition: 'The share of monthly active devices that are active on a day: dau / mau.',
    value: (sums, days: number) => per(per(sums.activeDevices, days), sums.monthlyActive),
  }),
  payer_rate: from(['payers', 'periodActive'], {
    label: 'Payer rate',
    kind: 'ratio',
    unit: 'percent',
    formula: 'payers / distinct active devices',
    missing: MISSING,
    hint: 'Payers / devices active in the period',
    definition: 'Payers / distinct devices with any event in the period of the row.',
    value: (sums) => per(sums.payers, sums.periodActive),
  }),
  cost_per_payer: from(['spend', 'acquiredPayers'], {
    label: 'Cost per payer',
    kind: 'ratio',
    unit: 'money',
    formula: 'spend / payers acquired',
    more: 'bad',
    missing: `without spend; ${MISSING}`,
    hint: 'Spend per attributed device acquired in the period that has paid so far',
    definition:
      'Spend / attributed devices acquired in the period of the row that have paid so far, or with `attribution=all` all such devices. Attributed devices are those with a creative.',
    value: (sums) => (sums.spend === 0n ? null : per(fromNanos(sums.spend), sums.acquiredPayers)),
  }),
} as const;
