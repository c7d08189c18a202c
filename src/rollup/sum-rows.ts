import * as z from 'zod';
import { additionStatement } from './add-rows.ts';
import { addParts, type PartRow, type PartSource } from './cube.ts';
import { additionColumns, ROLLUP_TABLES, type StoredTable } from './tables.ts';

/** Sums that a run adds to D1: rows of a rollup's table as `Additions.rows` gives them, or parts of the cube (`PartRow`). */
export type SumRows =
  | { table: StoredTable; rows: readonly unknown[] }
  | { parts: PartSource; rows: readonly unknown[] };

/** The statement that adds sums. */
export const sumStatement = (db: D1Database, sums: SumRows): D1PreparedStatement =>
  'table' in sums ? additionStatement(db, sums.table, sums.rows) : addParts(db, sums.parts, sums.rows);

/** A row of the same table, or a part of the same size, that the database has no reason to refuse. Never kept: for trials only. */
export function neutralSums(sums: SumRows): SumRows {
  if ('table' in sums) return { ...sums, rows: [additionColumns(sums.table).map(() => 0)] };
  const characters = Math.max(...(sums.rows as PartRow[]).map(({ data }) => data.length));
  const part: PartRow = {
    ...{ rollup: 'rollup_daily', grain: 'both', number: 0, month: '', fromDay: '', toDay: '', rows: 0 },
    data: ' '.repeat(characters),
  };
  return { ...sums, rows: [part] };
}

/** The body under which sums are parked that D1 refused. They cannot be sent to the queue, only added: see `replayParked`. */
export const parkedSums = (sums: SumRows): string => JSON.stringify({ sums });

/** Parses what `parkedSums` wrote; null for the body of a message. */
export function readParkedSums(body: unknown): SumRows | null {
  return ParkedSums.safeParse(body).data?.sums ?? null;
}

const ParkedSums = z.lazy(() => {
  const rows = z.array(z.unknown());
  return z.object({
    sums: z.union([
      z.object({
        table: z.custom<StoredTable>((name) => ROLLUP_TABLES.some((table) => table === name)),
        rows,
      }),
      z.object({
        parts: z.object({ applicationId: z.string(), shard: z.number(), sequence: z.number() }),
        rows,
      }),
    ]),
  });
});
