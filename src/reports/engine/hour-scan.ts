import { and, between, desc, eq, type SQL, sql } from 'drizzle-orm';
import { HOUR_ID } from '#catalogue';
import { findCreativeIds } from '#creatives';
import { database, isAmong, rollupHours } from '#db';
import { Dictionary } from '#lib/dictionary';
import { sumColumnsOf } from '#rollup';
import { isByCreative } from '../filters.ts';
import type { ReportFilters } from '../query.ts';
import type { Chunk } from './chunk.ts';
import { OTHER } from './cube-scan.ts';

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
  // One text for all rows, because parsing each by itself takes longer.
  const hoursOf: number[][][] = JSON.parse(`[${rows.map((row) => `[${row.hours}]`).join(',')}]`);
  // The id of an hour starts with the hour of the clock.
  const isWanted = (id: number) => id < endId;
  let size = 0;
  for (const list of hoursOf) for (const [id = 0] of list) if (isWanted(id)) size++;
  const [creatives, currencies, hours] = [
    new Dictionary<string>(),
    new Dictionary<string>(),
    new Dictionary<string>(),
  ];
  const keys = COLUMNS.map(() => new Int32Array(size));
  const [, creativeNumbers, currencyNumbers, hourNumbers] = keys;
  const sums: (Float64Array | null)[] = DAILY.map(() => null);
  const own = AT.map((at) => {
    const column = new Float64Array(size);
    sums[at] = column;
    return column;
  });
  const knownHours = new Map<number, number>();
  let entry = 0;
  for (const [at, list] of hoursOf.entries()) {
    const creative = creatives.numberOf(rows[at]?.creativeId ?? '');
    const currency = currencies.numberOf(rows[at]?.currency ?? '');
    for (const hour of list) {
      const [id = 0] = hour;
      if (!isWanted(id)) continue;
      let number = knownHours.get(id);
      if (number === undefined) {
        number = hours.numberOf(hourText(day, id));
        knownHours.set(id, number);
      }
      if (creativeNumbers) creativeNumbers[entry] = creative;
      if (currencyNumbers) currencyNumbers[entry] = currency;
      if (hourNumbers) hourNumbers[entry] = number;
      for (let index = 1; index < hour.length; index++) {
        const column = own[index - 1];
        if (column) column[entry] = hour[index] ?? 0;
      }
      entry++;
    }
  }
  return {
    isOfCosts: false,
    day,
    columns: COLUMNS,
    values: [[day], creatives.values, currencies.values, hours.values],
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
