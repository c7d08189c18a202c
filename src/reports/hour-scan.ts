import { and, between, desc, eq, type SQL, sql } from 'drizzle-orm';
import { HOUR_ID } from '#catalogue';
import { findCreativeIds } from '#creatives';
import { database, isAmong, rollupHours } from '#db';
import { sumColumnsOf } from '#rollup';
import { OTHER } from './block-scan.ts';
import type { Chunk } from './chunk.ts';
import { isByCreative } from './filters.ts';
import { Texts } from './interned.ts';
import type { ReportFilters } from './query.ts';

type HourScan = {
  applicationId: string;
  from: string;
  to: string;
  filters: ReportFilters;
  /** The last day ends at this hour of the clock. */
  untilHour?: number | undefined;
};

/** The rows of a page. A row has at most 25 hours, of about 50 characters each. */
const MAX_PAGE_ROWS = 2_000;

const COLUMNS = ['day', 'creative_id', 'currency', 'hour'];
const DAILY = sumColumnsOf('rollup_daily');
/** By column of `rollup_hours`, its index among the sums of `rollup_daily`. */
const AT = sumColumnsOf('rollup_hours').map((column) => DAILY.indexOf(column));

type HourRow = { day: string; creativeId: string; currency: string; hours: string };

/** Reads figures by hour, latest days first, with the sums of `rollup_daily`: those that have no hours are 0. */
export async function* scanHours(d1: D1Database, scan: HourScan): AsyncGenerator<Chunk> {
  const { applicationId, from, to, filters } = scan;
  const db = database(d1);
  const creativeIds = isByCreative(filters) ? await findCreativeIds(db, applicationId, filters) : null;
  const { day, creativeId, currency, hours } = rollupHours;
  const isPaid =
    filters.attribution && sql`(${creativeId} <> '') = ${Number(filters.attribution === 'paid')}`;
  let after: SQL | undefined;
  for (;;) {
    const rows: HourRow[] = await db
      .select({ day, creativeId, currency, hours })
      .from(rollupHours)
      .where(
        and(
          eq(rollupHours.applicationId, applicationId),
          between(day, from, to),
          creativeIds ? isAmong(creativeId, creativeIds) : undefined,
          isPaid,
          after,
        ),
      )
      .orderBy(desc(day), desc(creativeId), desc(currency))
      .limit(MAX_PAGE_ROWS);
    for (const own of Map.groupBy(rows, (row) => row.day).values()) yield toChunk(own, scan);
    const last = rows.at(-1);
    if (!last || rows.length < MAX_PAGE_ROWS) return;
    after = sql`(${day}, ${creativeId}, ${currency}) < (${last.day}, ${last.creativeId}, ${last.currency})`;
  }
}

/** A chunk of rows of one day. */
function toChunk(rows: readonly HourRow[], { to, untilHour }: HourScan): Chunk {
  const [first] = rows;
  const day = first?.day ?? to;
  const endId =
    day === to && untilHour !== undefined ? untilHour * HOUR_ID.perHour : Number.POSITIVE_INFINITY;
  const entries = rows.flatMap((row) => {
    const list: number[][] = JSON.parse(`[${row.hours}]`);
    // The id of an hour starts with the hour of the clock.
    return list.filter(([id = 0]) => id < endId).map(([id = 0, ...sums]) => ({ row, id, sums }));
  });
  const size = entries.length;
  const [creatives, currencies, hours] = [new Texts(), new Texts(), new Texts()];
  const keys = COLUMNS.map(() => new Int32Array(size));
  const sums: (Float64Array | null)[] = DAILY.map(() => null);
  for (const at of AT) sums[at] = new Float64Array(size);
  const hourNumbers = new Map<number, number>();
  for (const [entry, { row, id, sums: own }] of entries.entries()) {
    const hour = hourNumbers.get(id) ?? hours.numberOf(hourText(day, id));
    hourNumbers.set(id, hour);
    const key = [0, creatives.numberOf(row.creativeId), currencies.numberOf(row.currency), hour];
    for (const [at, column] of keys.entries()) column[entry] = key[at] ?? 0;
    for (const [index, sum] of own.entries()) {
      const column = sums[AT[index] ?? 0];
      if (column) column[entry] = sum;
    }
  }
  return {
    isOfCosts: false,
    day,
    columns: COLUMNS,
    values: [[day], creatives.all, currencies.all, hours.all],
    segments: [OTHER],
    read: (take) => take({ size, keys, segments: new Int32Array(size), sums }),
  };
}

const twoDigits = (value: number) => String(value).padStart(2, '0');

/** An hour as ISO 8601 with its offset, such as `2026-11-01T01:00:00-04:00`. */
function hourText(day: string, id: number): string {
  const quarters = (id % HOUR_ID.perHour) - HOUR_ID.ofUtc;
  const offset = Math.abs(quarters);
  return `${day}T${twoDigits(Math.floor(id / HOUR_ID.perHour))}:00:00${quarters < 0 ? '-' : '+'}${twoDigits(
    Math.floor(offset / 4),
  )}:${twoDigits((offset % 4) * 15)}`;
}
