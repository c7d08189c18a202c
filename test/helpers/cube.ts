import { env } from 'cloudflare:workers';
import { columnsOf, MEASURES, ROLLUP_KEYS, type RollupTable, SEGMENT_DIMENSIONS } from '#catalogue';
import { type Grain, openPart } from '#rollup';
import type { OpenPart } from '../../src/rollup/cube/part-segments.ts';
import { Additions, sumColumnsOf } from '../../src/rollup/tables.ts';

export type Row = { key: string[]; segment: string[]; sums: number[] };

/** The rows of a part: the values of the key, country, OS and app version, and the sums. */
export const rowsOf = async (table: RollupTable, grain: Grain, data: string): Promise<Row[]> =>
  rowsIn(await openPart(table, grain, data));

export function rowsIn({ size, columns, segments, sums }: OpenPart): Row[] {
  const segmentAt = (row: number) => segments.values[segments.numbers[row] ?? 0];
  return Array.from({ length: size }, (_, row) => ({
    key: [...columns.values()].map(({ values, numbers }) => values[numbers[row] ?? 0] ?? ''),
    segment: SEGMENT_DIMENSIONS.map((name) => segmentAt(row)?.[name] ?? ''),
    sums: sums.map((column) => column?.[row] ?? 0),
  }));
}

/** What parts hold: by key and segment, the sums. */
export async function addedUp(
  table: RollupTable,
  grain: Grain,
  parts: Iterable<string>,
): Promise<Map<string, number[]>> {
  const found = new Map<string, number[]>();
  for (const data of parts) addRowsTo(found, await rowsOf(table, grain, data));
  return found;
}

export function addRowsTo(found: Map<string, number[]>, rows: readonly Row[]): void {
  for (const { key, segment, sums } of rows) {
    const name = JSON.stringify([key, segment]);
    const known = found.get(name) ?? [];
    found.set(
      name,
      sums.map((sum, at) => sum + (known[at] ?? 0)),
    );
  }
}

/** The parts in use of an application's rollup. */
export async function partsOf(applicationId: string, rollup: RollupTable, grain: string): Promise<string[]> {
  const { results } = await env.DB.prepare(
    `SELECT data FROM cube_parts WHERE application_id = ? AND rollup = ? AND grain = ? AND replaced_at IS NULL
      ORDER BY to_day DESC, sequence, number`,
  )
    .bind(applicationId, rollup, grain)
    .all<{ data: string }>();
  return results.map(({ data }) => data);
}

/** The sums of an application's rollup by creative, of all rows together, by the name of their column. */
export async function creativeSumsOf(
  applicationId: string,
  rollup: RollupTable,
): Promise<Record<string, Record<string, number>>> {
  const columns = MEASURES[rollup].flatMap(columnsOf);
  const creativeAt = (ROLLUP_KEYS[rollup] as readonly string[]).indexOf('creative_id') - 1;
  const sums: Record<string, Record<string, number>> = {};
  for (const data of await partsOf(applicationId, rollup, 'creative')) {
    for (const { key, sums: own } of await rowsOf(rollup, 'creative', data)) {
      const creative = key[creativeAt] ?? '';
      const known = sums[creative] ?? Object.fromEntries(columns.map((column) => [column, 0]));
      for (const [at, column] of columns.entries()) known[column] = (known[column] ?? 0) + (own[at] ?? 0);
      sums[creative] = known;
    }
  }
  return sums;
}

/** Rows of a rollup: the key of each, and its segments as one list: the id and sums of the first, then those of the next. */
export type SegmentedRow = { key: (string | number)[]; segments: readonly number[] };

/** What a run would add for these rows. */
export function additionsOf(table: RollupTable, rows: readonly SegmentedRow[]): Additions<RollupTable> {
  const additions = new Additions<RollupTable>(table);
  const width = sumColumnsOf(table).length;
  for (const { key, segments } of rows) {
    for (let at = 0; at < segments.length; at += width + 1)
      additions.addSums(key, segments[at] ?? 0, segments, at + 1);
  }
  return additions;
}

/** A cell of what a run adds: its key without the application, the id of its segment, and its sums. */
export type Cell = { key: string[]; segment: number; sums: number[] };

/** The cells of what a run adds, those of the latest day first. */
export function cellsOf(additions: Additions<RollupTable>): Cell[] {
  return Array.from(additions.latestFirst(), (cell) => {
    const key = ROLLUP_KEYS[additions.table].slice(1).map((_, at) => String(additions.valueAt(cell, at + 1)));
    const sums: number[] = [];
    for (const column of sumColumnsOf(additions.table).keys()) additions.appendSums(sums, [cell], column);
    return { key, segment: Number(additions.valueAt(cell, additions.segmentAt)), sums };
  });
}
