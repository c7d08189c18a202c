import * as z from 'zod';
import { ALL_METRICS, HOURLY_METRICS, type Metric } from '#catalogue';
import { currencyCode } from '#http';
import { daysOf } from '#lib/calendar';
import { dayIn } from '#lib/time';
import { readFirstDay } from '#rollup';
import { Adder, type SumRow } from './adder.ts';
import { type Cut, keyedPart, keyValues, NO_GROUP, OTHER, REST, rankGroups } from './cut.ts';
import {
  DIMENSIONS,
  type DimensionName,
  givenBy,
  isBySegment,
  isDimension,
  isTime,
  needsSegments,
  PAYERS,
  rollupOf,
  type Shown,
  spansOf,
} from './dimensions.ts';
import { checkHours, checkHoursKept, until_hour } from './hours.ts';
import { type MetricValues, metricsOf } from './metrics.ts';
import { converterFor, type Unconverted } from './money.ts';
import { countPayers, NO_PAYERS } from './payers.ts';
import { checkPeriod, filtersOf, listing, listOf, period, type Reported } from './query.ts';
import type { SegmentedSums, SegmentQuestion } from './segment-question.ts';
import { readSegmentedSums } from './segment-sums.ts';
import { type Part, type Source, sourcesOf, totalSources } from './sources.ts';
import { type Asked, type ReadSums, readSums } from './sums.ts';

const groupError = `must be one or two of ${Object.keys(DIMENSIONS).join(', ')}`;

export const PerformanceQuery = z
  .object({
    ...period,
    group_by: z
      .string()
      .default('day')
      .transform(listOf)
      .pipe(
        z
          .array(z.custom<DimensionName>((name) => typeof name === 'string' && isDimension(name), groupError))
          .min(1, groupError)
          .max(2, groupError),
      )
      .refine((names) => rollupOf(names) !== undefined, 'names two groupings that cannot be combined'),
    until_hour,
    currency: currencyCode().optional(),
    ...listing,
  })
  .superRefine(checkPeriod)
  .superRefine(checkHours);
export type PerformanceQuery = z.infer<typeof PerformanceQuery>;

export type PerformanceRow = Record<string, string | number | boolean | null> &
  MetricValues & { day?: string | null; is_other?: true };

export type PerformanceReport = {
  /** Sorted by the groupings. The row that sums up the groups without one comes last and has `is_other: true`. */
  data: PerformanceRow[];
  /** How many groups there are, whether or not they have a row. */
  total_rows: number;
  totals: MetricValues;
  currency: string;
  timezone: string;
  unconverted: Unconverted;
};

/** Options for the dashboard's own pages, which the team API does not offer. */
type Wanted = {
  /** The id of the creative, ad set or campaign that groups must belong to. All others are in the row `other`. */
  within?: string;
  /** Only these metrics are computed, the others are null. A group that has only other metrics may be missing. */
  metrics?: readonly Metric[];
  /** If `false`, the totals are not computed and are all null. */
  totals?: boolean;
};

/** Reports with a lower limit usually have more groups than rows, so their groups are ranked first. */
const MIN_UNRANKED = 200;

/** Reads the sums of all groups at once, without a ranking. Returns null if there are more groups than rows. */
async function readUncut(
  db: D1Database,
  parts: readonly Part[],
  others: readonly Part[],
  asked: Asked & { limit: number },
): Promise<ReadSums[] | null> {
  // A source returns at most two rows per group, and one for rows without a group.
  const maxRows = 2 * asked.limit + 3;
  const read = await readSums(db, [...parts, ...others], asked, maxRows);
  const own = read.slice(0, parts.length);
  if (own.some(({ rows }) => rows.length === maxRows)) return null;
  const keys = new Set(own.flatMap(({ rows }) => rows.map(({ keys: [key] }) => key)));
  keys.delete(NO_GROUP);
  return keys.size > asked.limit ? null : read;
}

/** The groups by segment. Also the totals and the amounts without a rate, if only a rollup by segment can provide them. */
async function readSegments(
  db: D1Database,
  application: Reported,
  asked: SegmentQuestion,
  wantsTotals: boolean,
): Promise<Pick<SegmentedSums, 'cut' | 'groups'> & Partial<Pick<SegmentedSums, 'total' | 'missing'>>> {
  const { total, missing, ...found } = await readSegmentedSums(db, application, asked);
  if (!wantsTotals) return found;
  // Only the rollup by day has every measure.
  if (rollupOf(asked.names) === 'rollup_daily') return { ...found, total, missing };
  if (!isBySegment(asked.filters)) return found;
  const whole = { names: [], limit: 1, from: asked.from, to: asked.to, reporting: asked.reporting };
  const all = await readSegmentedSums(db, application, { ...whole, filters: asked.filters });
  return { ...found, total: all.total, missing: all.missing };
}

/**
 * The performance report: the metrics of the days `from` to `to`, in one row per group and in total.
 * `now` is in epoch milliseconds. Days that have not begun are left out of means per day.
 */
export async function reportPerformance(
  env: Pick<Env, 'DB' | 'COUNTERS'>,
  application: Reported,
  query: PerformanceQuery & Wanted,
  now: number,
): Promise<PerformanceReport> {
  const { group_by: names, from, to, until_hour: untilHour } = query;
  checkHoursKept(query, application, now);
  const reporting = query.currency ?? application.currency;
  const db = env.DB;
  const filters = filtersOf(query);
  const asked = { ...query, applicationId: application.id, teamId: application.teamId, reporting, filters };
  const { metrics: asksFor = ALL_METRICS, totals: wantsTotals = true } = query;
  const metrics = untilHour === undefined ? asksFor : asksFor.filter((name) => HOURLY_METRICS.includes(name));
  const isSegmented = needsSegments(names, filters);
  const sources = isSegmented ? [] : sourcesOf(names, filters, metrics, untilHour);
  const segmented = isSegmented
    ? await readSegments(db, application, { ...asked, names }, wantsTotals)
    : null;
  // A table that is read for the groups is not read again for the totals. Spend and its metrics have no segments.
  const totals = wantsTotals && !isBySegment(filters) ? totalSources(filters, metrics, untilHour) : [];
  const isRead = ({ kind, table }: Source) =>
    kind === 'rollup' && segmented?.total ? true : sources.some(({ source }) => source.table === table);
  const others = totals.filter(({ source }) => !isRead(source));
  const isTotal = (own: Source) => totals.some(({ source }) => source.table === own.table);
  const readGroups = async () => {
    if (segmented) return { cut: segmented.cut, read: await readSums(db, others, asked) };
    const tryAll = names.length === 1 && !names.some(isTime) && !query.q && !query.within;
    if (tryAll && query.limit >= MIN_UNRANKED) {
      const parts = sources.map((part) => keyedPart(part, names, null));
      const read = await readUncut(db, parts, others, asked);
      if (read) return { cut: null, read };
    }
    const cut = await rankGroups(db, application, sources, names, asked);
    const parts = sources.map((part) => keyedPart(part, names, cut));
    return { cut, read: await readSums(db, [...parts, ...others], asked) };
  };
  // Only means per day need the number of days.
  const needsDays = metrics.includes('dau');
  const [{ cut, read }, firstDay] = await Promise.all([
    readGroups(),
    needsDays ? readFirstDay(db, application.id) : null,
  ]);
  const amounts = read.flatMap(({ rows }) => rows.flatMap((row) => row.amounts));
  const converter = await converterFor(db, application, reporting, amounts);

  const groups = new Map<string, Adder>();
  const adderOf = (key: string) => {
    const adder = groups.get(key) ?? new Adder();
    groups.set(key, adder);
    return adder;
  };
  for (const [key, sums] of segmented?.groups ?? []) adderOf(key).addSums(sums);
  for (const { rows } of read.slice(0, sources.length)) {
    for (const row of rows) {
      const [key = NO_GROUP] = row.keys;
      if (isShown(key, row, names)) adderOf(key).add(row, converter, false);
    }
  }
  const total = new Adder();
  if (segmented?.total) total.addSums(segmented.total);
  for (const [currency, micros] of segmented?.missing ?? []) converter.list(micros, { currency });
  for (const { source, rows } of read) {
    if (!isTotal(source)) continue;
    for (const row of rows) total.add(row, converter, true);
  }

  const today = dayIn(application.timezone, now);
  // Days before the application's first event do not count as days without activity.
  const start = firstDay !== null && firstDay > from ? firstDay : from;
  const days = firstDay === null ? [] : daysOf(start, to < today ? to : today);
  const wantedOf = (given: ReadonlySet<Metric>) => new Set(metrics.filter((name) => given.has(name)));
  const gives = wantedOf(givenBy(names, filters));
  const givesInTotal = wantsTotals ? wantedOf(givenBy([], filters)) : new Set<Metric>();
  const payersOf = PAYERS.some((name) => gives.has(name) || givesInTotal.has(name))
    ? await countPayers(env, application, { names, from, to, filters }, total.sums().payers)
    : NO_PAYERS;
  const daysIn = countDays(days, names);
  const rest = groups.get(REST);
  groups.delete(REST);
  const data: PerformanceRow[] = [...groups]
    .map(([key, adder]) => ({ values: keyValues(key), adder }))
    .map(({ values, adder }) => ({ values, shown: shownOf(values, names), adder }))
    .sort(byKeys)
    .map(({ values, shown, adder }) => {
      const sums = adder.sums();
      const payers = payersOf.row(values, sums.payers);
      return { ...shown, ...metricsOf({ ...sums, payers }, daysIn(values), gives) };
    });
  const total_rows = cut?.total ?? data.length;
  if (cut && rest) {
    const restDays = countRestDays(days, names, cut);
    const sums = rest.sums();
    const payers = payersOf.rest(data.map((row) => row.payers));
    // Over several periods, a device may have paid in more than one.
    const given = payers === null ? new Set([...gives].filter((name) => !PAYERS.includes(name))) : gives;
    data.push({
      ...otherShown(names),
      is_other: true,
      ...metricsOf({ ...sums, payers: payers ?? 0 }, restDays, given),
    });
  }
  return {
    data,
    total_rows,
    totals: metricsOf({ ...total.sums(), payers: payersOf.total }, days.length, givesInTotal),
    currency: reporting,
    timezone: application.timezone,
    unconverted: converter.unconverted(),
  };
}

type Values = readonly (string | null)[];

/** Requests alone do not make a group by network. */
const isShown = (key: string, row: SumRow, names: readonly DimensionName[]) =>
  key !== NO_GROUP && !(names.includes('media_source') && row.counts.impressions === 0);

const shownOf = (values: Values, names: readonly DimensionName[]): Shown =>
  Object.assign({}, ...names.map((name, index) => DIMENSIONS[name].show(values[index] ?? null)));

/** The columns of the row that sums up the rest: `other` as each name, and no id. */
function otherShown(names: readonly DimensionName[]): Shown {
  const columns = Object.keys(shownOf([], names));
  return Object.fromEntries(columns.map((column) => [column, isDimension(column) ? OTHER : null]));
}

function byKeys(left: { shown: Shown }, right: { shown: Shown }): number {
  for (const name of Object.keys(left.shown)) {
    const [before, after] = [sortable(name, left.shown), sortable(name, right.shown)];
    if (before !== after) return before < after ? -1 : 1;
  }
  return 0;
}

/** Hours sort by instant, which also orders the two hours when clocks are set back. */
const sortable = (name: string, shown: Shown): string | number =>
  name === 'hour' ? Date.parse(shown.hour ?? '') : (shown[name] ?? '');

/** The number of days that a group covers: those of its day, week or month, or all days. */
function countDays(days: readonly string[], names: readonly DimensionName[]) {
  const keyOf = (values: Values) => JSON.stringify(values.filter((_, index) => isTime(names[index])));
  const counts = new Map<string, number>();
  for (const day of days) {
    const key = keyOf(spansOf(day, names));
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return (values: Values) => counts.get(keyOf(values)) ?? 0;
}

/** The number of days that the row `other` covers: in a report by time, those up to the first group that was cut off; otherwise all. */
function countRestDays(days: readonly string[], names: readonly DimensionName[], { firstCut }: Cut): number {
  if (!firstCut || !names.some(isTime)) return days.length;
  const last = keyValues(firstCut);
  return days.filter((day) => {
    const spans = spansOf(day, names);
    const index = spans.findIndex((span, at) => span !== null && span !== last[at]);
    return index < 0 || (spans[index] ?? '') < (last[index] ?? '');
  }).length;
}
