import type { Metric, Sums } from '#catalogue';
import { Adder, type SumRow } from './adder.ts';
import { type Cut, keyedPart, NO_GROUP, rankGroups, type Wanted } from './cut.ts';
import { type DimensionName, isTime } from './dimensions.ts';
import { type Converter, converterFor } from './money.ts';
import type { Reported, ReportFilters } from './query.ts';
import { type Part, type Source, sourcesOf, totalSources } from './sources.ts';
import { type Asked, type ReadSums, readSums } from './sums.ts';

// The performance report that names no creative, segment or hour: SQL adds up its groups.

export type TableQuestion = Wanted & {
  names: readonly DimensionName[];
  from: string;
  to: string;
  reporting: string;
  filters: ReportFilters;
  /** Sources that only other metrics need are not read. */
  metrics: readonly Metric[];
  wantsTotals: boolean;
};

export type TableSums = {
  /** By group key; `REST` for all groups without a row of their own. */
  groups: Map<string, Sums>;
  cut: Cut | null;
  total: Sums;
};

/** Reports with a lower limit usually have more groups than rows, so their groups are ranked first. */
const MIN_UNRANKED = 200;

/** Adds up the groups of a report, and its totals. A table that is read for the groups is not read again for the totals. */
export async function readTableSums(
  db: D1Database,
  application: Reported,
  question: TableQuestion,
): Promise<TableSums> {
  const { names, metrics, reporting, wantsTotals, limit, q } = question;
  const asked = { ...question, applicationId: application.id, teamId: application.teamId };
  const sources = sourcesOf(names, metrics);
  const totals = wantsTotals ? totalSources(metrics) : [];
  const isIn = (parts: readonly Part[], own: Source) =>
    parts.some(({ source }) => source.table === own.table);
  const others = totals.filter(({ source }) => !isIn(sources, source));
  const readGroups = async () => {
    if (names.length === 1 && !names.some(isTime) && !q && limit >= MIN_UNRANKED) {
      const parts = sources.map((part) => keyedPart(part, names, null));
      const read = await readUncut(db, parts, others, asked);
      if (read) return { cut: null, read };
    }
    const cut = await rankGroups(db, application, sources, names, asked);
    const parts = sources.map((part) => keyedPart(part, names, cut));
    return { cut, read: await readSums(db, [...parts, ...others], asked) };
  };
  const { cut, read } = await readGroups();
  const amounts = read.flatMap(({ rows }) => rows.flatMap((row) => row.amounts));
  const converter = await converterFor(db, application, reporting, amounts);
  const groups = new Map<string, Adder>();
  for (const { rows } of read.slice(0, sources.length)) {
    for (const row of rows) {
      const [key = NO_GROUP] = row.keys;
      if (!isShown(key, row, names)) continue;
      const adder = groups.get(key) ?? new Adder();
      groups.set(key, adder);
      adder.add(row, converter);
    }
  }
  const total = addTotals(
    read.filter(({ source }) => isIn(totals, source)),
    converter,
  );
  return {
    groups: new Map([...groups].map(([key, adder]) => [key, adder.sums()])),
    cut,
    total,
  };
}

/** Adds up all rows of these sources. */
function addTotals(read: readonly ReadSums[], converter: Converter): Sums {
  const total = new Adder();
  for (const { rows } of read) for (const row of rows) total.add(row, converter);
  return total.sums();
}

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

/** Requests alone do not make a group by network. */
const isShown = (key: string, row: SumRow, names: readonly DimensionName[]) =>
  key !== NO_GROUP && !(names.includes('media_source') && row.counts.impressions === 0);
