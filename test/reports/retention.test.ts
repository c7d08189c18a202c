import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import { UNKNOWN_SEGMENT } from '#catalogue';
import { database } from '#db';
import { addDays } from '#lib/time';
import { sumColumnsOf } from '#rollup';
import { CohortActivity } from '../../src/reports/cohorts/cohort-activity.ts';
import { CohortCells } from '../../src/reports/cohorts/cohort-cells.ts';
import type { Chunk } from '../../src/reports/engine/chunk.ts';
import { CreativeNames } from '../../src/reports/names.ts';

const NO_NAMES = new CreativeNames(database(env.DB), '', []);

// Ten devices of the 1st, of which four came back on day 1 and two on day 7; five of the 5th, of which one came back on day 1.
const ROWS = [
  { acquiredDay: '2026-03-01', age: 0, active: 10, lastActive: 5 },
  { acquiredDay: '2026-03-01', age: 1, active: 4, lastActive: 3 },
  { acquiredDay: '2026-03-01', age: 7, active: 2, lastActive: 2 },
  { acquiredDay: '2026-03-05', age: 0, active: 5, lastActive: 4 },
  { acquiredDay: '2026-03-05', age: 1, active: 1, lastActive: 1 },
];

type Row = (typeof ROWS)[number];

/** What a counter added of all creatives and segments together. */
function chunkOf(rows: readonly Row[]): Chunk {
  const numbers = Int32Array.from(rows, (_, at) => at);
  const sums = sumColumnsOf('cohort_activity').map((column) =>
    Float64Array.from(rows, ({ active, lastActive }) => (column === 'active_devices' ? active : lastActive)),
  );
  return {
    isOfCosts: false,
    day: '',
    columns: ['acquired_day', 'age'],
    values: [rows.map(({ acquiredDay }) => acquiredDay), rows.map(({ age }) => String(age))],
    segments: [UNKNOWN_SEGMENT],
    read: (take) =>
      take({ size: rows.length, keys: [numbers, numbers], segments: new Int32Array(rows.length), sums }),
  };
}

const read = async (today: string, cohort: 'all' | 'day', limit = 10) => {
  const asked = {
    cohort,
    from: '2026-03-01',
    to: '2026-03-09',
    limit,
    days: [7, 0, 3, 1],
    filters: {},
    today,
  };
  const cells = new CohortCells(asked, NO_NAMES);
  const activity = new CohortActivity(cells, asked);
  await activity.read(chunkOf(ROWS.toReversed()));
  return { ranked: activity.rank(), activity };
};

describe('retention', () => {
  it.each<[string, number, string, { eligible: number; active: number; later: number }]>([
    ['everyone on day 0', 0, '2026-03-20', { eligible: 15, active: 15, later: 15 }],
    ['day 1', 1, '2026-03-20', { eligible: 15, active: 5, later: 6 }],
    ['a day on which no one came, but later', 3, '2026-03-20', { eligible: 15, active: 0, later: 2 }],
    ['day 7', 7, '2026-03-20', { eligible: 15, active: 2, later: 2 }],
    ['only cohorts whose day 7 is over', 7, '2026-03-09', { eligible: 10, active: 2, later: 2 }],
    ['no cohort on the very day', 7, '2026-03-08', { eligible: 0, active: 0, later: 0 }],
    ['what came on the very day for earlier days', 3, '2026-03-08', { eligible: 10, active: 0, later: 2 }],
  ])('counts %s', async (_, day, today, expected) => {
    const { ranked, activity } = await read(today, 'all');
    expect(ranked).toMatchObject({ rows: [{ row: 1, label: '', value: '' }], sizes: [0, 15], total: 1 });
    expect(activity.details.of(1, day)).toEqual(expected);
  });

  it('sums up the cohorts that are cut off', async () => {
    const { ranked, activity } = await read('2026-03-20', 'day', 1);
    expect(ranked.rows).toEqual([{ row: 1, label: '2026-03-05', value: '' }]);
    expect(ranked).toMatchObject({ sizes: [10, 5], total: 2 });
    expect(ranked.restDays).toEqual({ first: '2026-03-01', last: '2026-03-01' });
    expect(activity.details.of(0, 1)).toEqual({ eligible: 10, active: 4, later: 5 });
  });
});

/** Cohorts by day, of which each day's has as many devices as it is old. */
async function readDays(count: number, limit: number, days: number[]) {
  const today = '2026-03-20';
  const asked = { cohort: 'day' as const, from: '', to: today, limit, days, filters: {}, today };
  const cells = new CohortCells(asked, NO_NAMES);
  const activity = new CohortActivity(cells, asked);
  // As parts of the cube come: the latest day first, a day each.
  const read = async () => {
    for (let ago = 1; ago <= count; ago++) {
      await activity.read(
        chunkOf([{ acquiredDay: addDays(today, -ago), age: 0, active: ago, lastActive: ago }]),
      );
    }
  };
  await read();
  return { ranked: activity.rank(), activity, read };
}

it('counts the cohorts of days that are cut off before they are ranked', async () => {
  const { ranked, activity } = await readDays(9, 2, [0]);
  expect(ranked.rows.map(({ label }) => label)).toEqual(['2026-03-19', '2026-03-18']);
  expect(ranked.total).toBe(9);
  expect(ranked.sizes).toEqual([42, 1, 2]);
  expect(ranked.restDays).toEqual({ first: '2026-03-11', last: '2026-03-17' });
  expect(activity.details.of(0, 0)).toEqual({ eligible: 42, active: 42, later: 42 });
});

it('reads the activity again if it cannot keep the counts of all cohorts', async () => {
  const numbers = Array.from({ length: 100 }, (_, index) => index);
  const { ranked, activity, read } = await readDays(11_000, 10_999, numbers);
  expect(activity.needsDetails).toBe(true);
  expect(ranked.rows).toHaveLength(10_999);
  await read();
  expect(activity.details.of(3, 1)).toEqual({ eligible: 3, active: 0, later: 0 });
  expect(activity.details.of(3, 0)).toEqual({ eligible: 3, active: 3, later: 3 });
  expect(activity.details.of(0, 0)).toEqual({ eligible: 11_000, active: 11_000, later: 11_000 });
});
