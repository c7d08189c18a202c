import { expect } from 'vitest';
import type { Sent } from './history.ts';
import * as naive from './naive.ts';
import { expectFigures, monday, type Report, type Row } from './setup.ts';

// Reports that are cut short: the rows that are left, and the sums of all others in the row `other`. A row by time has devices in common with
// another, so what is counted by device is not what is left of the total.

/** A grouping of events: the columns of its rows. */
type CutGrouping = {
  groups: string;
  of: readonly ((event: Sent) => string | null)[];
  /** Of the columns, those by time. */
  times: readonly number[];
  /** Metrics that the grouping does not have. */
  lacks?: readonly string[];
};

const DAY = ({ day }: Pick<Sent, 'day'>) => day;
/** The week of ISO 8601, which has the number of its Thursday's. */
const WEEK = ({ day }: Pick<Sent, 'day'>) => {
  const thursday = new Date(Date.parse(monday(day)) + 3 * 86_400_000);
  const year = thursday.getUTCFullYear();
  const week = Math.floor((thursday.getTime() - Date.UTC(year, 0, 1)) / (7 * 86_400_000)) + 1;
  return `${year}-W${String(week).padStart(2, '0')}`;
};
const MONTH = ({ day }: Pick<Sent, 'day'>) => day.slice(0, 7);
const OS = ({ os }: Sent) => os || null;
const COUNTRY = ({ country }: Sent) => country || null;
const VERSION = ({ version }: Sent) => version;

const PAYERS = ['payers', 'arppu', 'arppu_net'];

export const CUT_GROUPINGS: readonly CutGrouping[] = [
  { groups: 'day', of: [DAY], times: [0] },
  { groups: 'week', of: [WEEK], times: [0] },
  { groups: 'month', of: [MONTH], times: [0] },
  { groups: 'day,os', of: [DAY, OS], times: [0] },
  { groups: 'week,country', of: [WEEK, COUNTRY], times: [0] },
  { groups: 'month,os', of: [MONTH, OS], times: [0] },
  { groups: 'day,app_version', of: [DAY, VERSION], times: [0] },
  { groups: 'country', of: [COUNTRY], times: [] },
  { groups: 'country,os', of: [COUNTRY, OS], times: [] },
  { groups: 'app_version', of: [VERSION], times: [], lacks: PAYERS },
];

const METRICS = [
  ...['installs', 'dau', 'sessions', 'impressions', 'ad_revenue', 'purchases', 'purchase_revenue', 'revenue'],
  ...['payers', 'arppu', 'arpdau', 'refunds', 'refunded_revenue', 'net_revenue', 'events'],
] as const;

/** What the report is asked of. */
type World = {
  report: (query: string) => Promise<Report>;
  /** Of the period. */
  events: readonly Sent[];
  all: Sent[];
  /** Of the period, from the application's first event on. */
  days: readonly string[];
  rateOn: naive.RateOn;
};

/** Compares each row of the report that is cut to `limit` rows, and the row of the others. */
export async function expectCut(world: World, grouping: CutGrouping, limit: number): Promise<void> {
  const { report, all, days, rateOn } = world;
  const { groups, of, times, lacks = [] } = grouping;
  const names = groups.split(',');
  const keyOf = (event: Sent) => JSON.stringify(of.map((column) => column(event)));
  const rowKey = (row: Row) => JSON.stringify(names.map((name) => row[name] ?? null));
  const { data, total_rows } = await report(`group_by=${groups}&limit=${limit}&metrics=${METRICS.join(',')}`);
  const rows = data.filter(({ is_other }) => !is_other);
  const [other] = data.filter(({ is_other }) => is_other);
  expect(rows.length).toBe(Math.min(limit, Number(total_rows)));
  expect(other !== undefined).toBe(Number(total_rows) > limit);
  const shown = new Set(rows.map(rowKey));
  const timesOf = (key: string) => times.map((index) => (JSON.parse(key) as string[])[index]).join();
  const spanOf = (day: string) =>
    timesOf(
      JSON.stringify(of.map((column, index) => (times.includes(index) ? column({ day } as Sent) : null))),
    );
  const compare = (
    row: Row,
    own: readonly Sent[],
    ownDays: number,
    lacking: readonly string[],
    what: string,
  ) => {
    const figures: Record<string, unknown> = naive.performance([...own], all, [], ownDays, rateOn);
    const wanted = METRICS.map((name) => [name, lacking.includes(name) ? null : figures[name]]);
    expectFigures(row, Object.fromEntries(wanted), `${what}, cut to ${limit}`);
  };
  for (const row of rows) {
    const key = rowKey(row);
    const own = world.events.filter((event) => keyOf(event) === key);
    const ownDays = times.length === 0 ? days : days.filter((day) => spanOf(day) === timesOf(key));
    compare(row, own, ownDays.length, lacks, key);
  }
  if (!other) return;
  const rest = world.events.filter((event) => !shown.has(keyOf(event)));
  // By time, the latest rows are shown: the others are those up to the last that is not.
  const last =
    rest
      .map((event) => timesOf(keyOf(event)))
      .sort()
      .at(-1) ?? '';
  const restDays = times.length === 0 ? days : days.filter((day) => spanOf(day) <= last);
  compare(other, rest, restDays.length, times.length === 0 ? lacks : PAYERS, 'other');
}
