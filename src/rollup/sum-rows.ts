import { sql } from 'drizzle-orm';
import * as z from 'zod';
import { isMoney, keysTogether, MEASURES } from '#catalogue';
import { toStatement } from '#db';
import { addParts, type PartRow, type PartSource } from './cube/cube.ts';
import { additionColumns, NANOS_PER_HIGH, ROLLUP_TABLES, type StoredTable } from './tables.ts';

// What a run adds to D1 waits in the outbox, and is parked if D1 refuses it. A release may therefore read what another one wrote: rows are lists of
// values with the names of their columns, or objects. Those that are missing have no value or are 0, and unknown ones are ignored.

/** Sums that a run adds to D1: rows of a rollup's table, or parts of the cube. Names in statements come from the catalogue, never from what is stored. */
export type SumRows =
  | { table: StoredTable; columns: readonly string[]; rows: readonly (readonly unknown[])[] }
  | { parts: PartSource; rows: readonly PartRow[] };

/** The statement that adds sums. */
export const sumStatement = (db: D1Database, sums: SumRows): D1PreparedStatement =>
  'table' in sums ? additionStatement(db, sums) : addParts(db, sums.parts, sums.rows);

/** The parameter with the rows. */
const ROWS = '?1';

/** How an upsert adds to the sums of a row. What exceeds 10^12 nanos is carried into the high part of an amount. */
const assigned = (table: StoredTable): string =>
  MEASURES[table]
    .flatMap((measure) => {
      const sum = `${measure} + excluded.${measure}`;
      if (!isMoney(measure)) return [`${measure} = ${sum}`];
      const high = `${measure}_high`;
      return [
        `${measure} = (${sum}) % ${NANOS_PER_HIGH}`,
        `${high} = ${high} + excluded.${high} + (${sum}) / ${NANOS_PER_HIGH}`,
      ];
    })
    .join(', ');

/** Adds rows (`ROWS`, a JSON array) with these columns to a rollup table. */
function additionSql(table: StoredTable, columns: readonly string[]): string {
  const keys = keysTogether(table);
  const own = additionColumns(table);
  const values = own.map((name) => {
    const at = columns.indexOf(name);
    return at < 0 ? (keys.includes(name) ? "''" : '0') : `value ->> ${at}`;
  });
  return `INSERT INTO ${table} (${own.join(', ')}) SELECT ${values.join(', ')} FROM json_each(${ROWS}) WHERE true
    ON CONFLICT (${keys.join(', ')}) DO UPDATE SET ${assigned(table)}`;
}

/** The SQL of each table. Kept, because putting it together takes longer than sending a part. */
const additionTexts = new Map<string, string>();

function additionStatement(
  db: D1Database,
  { table, columns, rows }: Extract<SumRows, { table: StoredTable }>,
): D1PreparedStatement {
  const name = [table, ...columns].join();
  const text = additionTexts.get(name) ?? additionSql(table, columns);
  additionTexts.set(name, text);
  const [before = '', after = ''] = text.split(ROWS);
  return toStatement(db, sql`${sql.raw(before)}${JSON.stringify(rows)}${sql.raw(after)}`);
}

/** A row of the same table, or a part of the same size, that the database has no reason to refuse. Never kept: for trials only. */
export function neutralSums(sums: SumRows): SumRows {
  if ('table' in sums) return { ...sums, rows: [sums.columns.map(() => 0)] };
  const characters = Math.max(...sums.rows.map(({ data }) => data.length));
  const part: PartRow = {
    ...{ rollup: 'rollup_daily', grain: 'both', number: 0, month: '', fromDay: '', toDay: '', rows: 0 },
    data: ' '.repeat(characters),
  };
  return { ...sums, rows: [part] };
}

/**
 * The body under which sums are parked: `SumRows` that D1 refused, or rows of the outbox that only a newer release knows. They cannot be sent to
 * the queue, only added: see `replayParked`.
 */
export const parkedSums = (sums: unknown): string => JSON.stringify({ sums });

/** Parses what `parkedSums` wrote; null for the body of a message, 'newer' for sums that this release does not know. */
export function readParkedSums(body: unknown): SumRows | 'newer' | null {
  if (typeof body !== 'object' || body === null || !('sums' in body)) return null;
  return ParkedSums.safeParse(body).data?.sums ?? 'newer';
}

const ParkedSums = z.lazy(() =>
  z.object({
    sums: z.union([
      z.object({
        table: z.custom<StoredTable>((name) => ROLLUP_TABLES.some((table) => table === name)),
        columns: z.array(z.string()),
        rows: z.array(z.array(z.unknown())),
      }),
      z.object({
        parts: z.object({ applicationId: z.string(), shard: z.number(), sequence: z.number() }),
        rows: z.array(z.custom<PartRow>((row) => typeof row === 'object' && row !== null)),
      }),
    ]),
  }),
);
