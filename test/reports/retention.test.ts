import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import { UNKNOWN_SEGMENT } from '#catalogue';
import { database } from '#db';
import { addDays } from '#lib/time';
import { sumColumnsOf } from '#rollup';
import { CohortActivity } from '../../src/reports/cohorts/cohort-activity.ts';
import { CohortRanking } from '../../src/reports/cohorts/cohort-ranking.ts';
import { type CohortQuestion, namesOf } from '../../src/reports/cohorts/cohort-scan.ts';
import type { Chunk } from '../../src/reports/engine/chunk.ts';
import { CreativeNames } from '../../src/reports/names.ts';
import { slowIt } from '../helpers/thorough.ts';

const NO_NAMES = new CreativeNames(database(env.DB), '', []);

// Ten devices of the 1st, of which four came back on day 1 and two on day 7; five of the 5th, of which one came back on day 1.
const ROWS = [
  { acquiredDay: '2026-03-01', age: 0, active: 10, lastActive: 5 },
  { acquiredDay: '2026-03-01', age: 1, active: 4, lastActive: 3 },
  { acquiredDay: '2026-03-01', age: 7, active: 2, lastActive: 2 },
  { acquiredDay: '2026-03-05', age: 0, active: 5, lastActive: 4 },
  { acquiredDay: '2026-03-05', age: 1, active: 1, lastActive: 1 },
];

type ActivityRow = (typeof ROWS)[number];

/** What a counter added of all creatives and segments together. */
function chunkOf(rows: readonly ActivityRow[]): Chunk {
  const numbers = Int32Array.from(rows, (_, at) => at);
  const sums = sumColumnsOf('cohort_activity').map((column) =>
    Float64Array.from(rows, ({ active, lastActive }) => (column === 'active_devices' ? active : lastActive)),
  );
  return {
    size: rows.length,
    columns: new Map([
      ['acquired_day', { values: rows.map(({ acquiredDay }) => acquiredDay), numbers }],
      ['age', { values: rows.map(({ age }) => String(age)), numbers }],
    ]),
    segments: { values: [UNKNOWN_SEGMENT], numbers: new Int32Array(rows.length) },
    sums,
  };
}

/** Ranks cohorts, then adds up their activity. The chunks must be those of the days of acquisition only, and all. */
async function readChunks(
  asked: CohortQuestion,
  acquired: Iterable<readonly ActivityRow[]>,
  all: Iterable<readonly ActivityRow[]>,
) {
  const names = namesOf(asked);
  const ranking = new CohortRanking(names, NO_NAMES, asked.limit);
  for (const rows of acquired) await ranking.read(chunkOf(rows));
  const { ranked, total } = ranking.rank();
  const activity = new CohortActivity(ranking.places(asked), ranked.length + 1);
  for (const rows of all) await activity.read(chunkOf(rows));
  const { rest } = activity;
  const restDays = rest && [addDays(asked.today, -rest.oldest), addDays(asked.today, -rest.newest)];
  return { ranked, total, sizes: [...activity.sizes], restDays, activity };
}

const read = (today: string, cohort: 'all' | 'day', limit = 10) => {
  const asked = {
    cohort,
    from: '2026-03-01',
    to: '2026-03-09',
    limit,
    days: [7, 0, 3, 1],
    filters: {},
    today,
  };
  return readChunks(asked, [ROWS.filter(({ age }) => age === 0).toReversed()], [ROWS.toReversed()]);
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
    const { ranked, total, sizes, activity } = await read(today, 'all');
    expect({ ranked, total, sizes }).toEqual({ ranked: [[]], total: 1, sizes: [0, 15] });
    expect(activity.of(1, day)).toEqual(expected);
  });

  it('sums up the cohorts that are cut off', async () => {
    const { ranked, total, sizes, restDays, activity } = await read('2026-03-20', 'day', 1);
    expect({ ranked, total, sizes }).toEqual({ ranked: [['2026-03-05']], total: 2, sizes: [10, 5] });
    expect(restDays).toEqual(['2026-03-01', '2026-03-01']);
    expect(activity.of(0, 1)).toEqual({ eligible: 10, active: 4, later: 5 });
  });
});

/** Cohorts by day, of which each day's has as many devices as it is old. */
function readDays(count: number, limit: number, days: number[]) {
  const today = '2026-03-20';
  const asked = { cohort: 'day' as const, from: '', to: today, limit, days, filters: {}, today };
  // As parts of the cube come: the latest day first, a day each.
  const rows = Array.from({ length: count }, (_, index) => index + 1).map((ago) => [
    { acquiredDay: addDays(today, -ago), age: 0, active: ago, lastActive: ago },
  ]);
  return readChunks(asked, rows, rows);
}

it('counts the cohorts of days that are cut off before they are ranked', async () => {
  const { ranked, total, sizes, restDays, activity } = await readDays(9, 2, [0]);
  expect(ranked).toEqual([['2026-03-19'], ['2026-03-18']]);
  expect(total).toBe(9);
  expect(sizes).toEqual([42, 1, 2]);
  expect(restDays).toEqual(['2026-03-11', '2026-03-17']);
  expect(activity.of(0, 0)).toEqual({ eligible: 42, active: 42, later: 42 });
});

slowIt('adds up thousands of cohorts', async () => {
  const numbers = Array.from({ length: 100 }, (_, index) => index);
  const { ranked, activity } = await readDays(11_000, 10_999, numbers);
  expect(ranked).toHaveLength(10_999);
  expect(activity.of(3, 1)).toEqual({ eligible: 3, active: 0, later: 0 });
  expect(activity.of(3, 0)).toEqual({ eligible: 3, active: 3, later: 3 });
  expect(activity.of(0, 0)).toEqual({ eligible: 11_000, active: 11_000, later: 11_000 });
});
