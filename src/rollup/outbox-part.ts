import { sql } from 'drizzle-orm';
import * as z from 'zod';
import { isMoney, keysTogether, MEASURES, type RollupTable } from '#catalogue';
import { toStatement } from '#db';
import { logLine } from '#lib/log';
import { type Compacted, replaceParts } from './cube/compact.ts';
import { addParts, type PartRow, type PartSource, type SegmentOfId, sumRowsOf } from './cube/cube.ts';
import { PARK_REASON, type Parked, parkedId, parkStatements } from './park.ts';
import {
  type Additions,
  additionColumns,
  NANOS_PER_HIGH,
  ROLLUP_TABLES,
  type StoredTable,
} from './tables.ts';

// What a run adds to D1 waits in the outbox, and is parked if D1 refuses it. A release may therefore read what another one wrote: rows are lists of
// values with the names of their columns, or objects. Those that are missing have no value or are 0, and unknown ones are ignored.

/** Rows of the rollup tables with the names of their columns, and objects. */
type OutboxRows =
  | { kind: 'sums'; table: StoredTable; columns: readonly string[]; rows: (readonly unknown[])[] }
  | { kind: 'parts'; rows: PartRow[] }
  | { kind: 'compacted'; rows: Compacted[] }
  | { kind: 'parked'; rows: Parked[] };
export type OutboxPart = OutboxRows[];

/** The size of one D1 transaction: some hundred rows, so that other queries wait only a few milliseconds. */
const MAX_PART_CHARACTERS = 125_000;

/** Splits what a run adds to D1 into parts of a bounded size. */
export function* toParts(
  additions: readonly Additions<RollupTable>[],
  segmentOf: SegmentOfId,
  parked: readonly Parked[],
): Generator<OutboxPart> {
  let [part, size]: [OutboxPart, number] = [[], 0];
  for (const added of rowsOf(additions, segmentOf, parked)) {
    const length = JSON.stringify(added.rows).length;
    if (size > 0 && size + length > MAX_PART_CHARACTERS) {
      yield part;
      [part, size] = [[], 0];
    }
    addTo(part, added);
    size += length;
  }
  if (size > 0) yield part;
}

function* rowsOf(
  additions: readonly Additions<RollupTable>[],
  segmentOf: SegmentOfId,
  parked: readonly Parked[],
): Generator<OutboxRows> {
  let parts = 0;
  for (const own of additions) {
    for (const [table, row] of sumRowsOf(own, parts, segmentOf)) {
      if (table === 'parts') {
        parts++;
        yield { kind: 'parts', rows: [row] };
      } else yield { kind: 'sums', table, columns: additionColumns(table), rows: [row] };
    }
  }
  for (const message of parked) yield { kind: 'parked', rows: [message] };
}

/** Adds rows to those of the same kind and table. */
function addTo(part: OutboxPart, added: OutboxRows): void {
  const tableOf = (rows: OutboxRows) => ('table' in rows ? rows.table : null);
  const own = part.find((rows) => rows.kind === added.kind && tableOf(rows) === tableOf(added));
  if (own) (own.rows as unknown[]).push(...added.rows);
  else part.push(added);
}

const KINDS: Readonly<Record<OutboxRows['kind'], true>> = {
  sums: true,
  parts: true,
  compacted: true,
  parked: true,
};

/** Whether this release can add these rows. */
const isKnown = (own: OutboxRows): boolean =>
  Object.hasOwn(KINDS, own.kind) && (own.kind !== 'sums' || ROLLUP_TABLES.includes(own.table));

/**
 * Reads a part. What a newer release stored, and this one cannot add, is parked: after a rollback it holds up nothing else, and can be added once
 * the newer release is back. `name` identifies the part.
 */
export async function readPart(source: PartSource, name: string, text: string): Promise<OutboxPart> {
  const part: OutboxPart = JSON.parse(text);
  const newer = part.filter((own) => !isKnown(own));
  if (newer.length === 0) return part;
  const { applicationId } = source;
  const parked = await Promise.all(
    newer.map((rows) => parkSums(applicationId, name, rows, PARK_REASON.newer)),
  );
  for (const { id } of parked)
    logLine('error', 'sums of a newer release parked', { message_id: id, application_id: applicationId });
  return [...part.filter(isKnown), { kind: 'parked', rows: parked }];
}

/** The sums of a part. */
export const sumsIn = (source: PartSource, part: OutboxPart): SumRows[] =>
  part.flatMap((own): SumRows[] => {
    if (own.kind === 'sums') return [own];
    return own.kind === 'parts' ? [{ parts: source, rows: own.rows }] : [];
  });

/** The statements that add a part. */
export const partStatements = (
  db: D1Database,
  source: PartSource,
  part: OutboxPart,
  now: number,
): D1PreparedStatement[] =>
  part.flatMap((own) => {
    if (own.kind === 'compacted')
      return own.rows.flatMap((compacted) => replaceParts(db, source, compacted, now));
    if (own.kind === 'parked') return parkStatements(db, own.rows, now);
    return sumsIn(source, [own]).map((sums) => sumStatement(db, sums));
  });

/**
 * What is kept of a part that D1 has. Compacted parts say nothing that the parts which they replaced did not. Parked messages may have to be
 * erased, so only parked sums are kept.
 */
export const partToKeep = (part: OutboxPart): OutboxPart =>
  part.flatMap((own): OutboxPart => {
    if (own.kind === 'compacted') return [];
    if (own.kind !== 'parked') return [own];
    const sums = own.rows.filter(
      ({ reason }) => reason === PARK_REASON.refused || reason === PARK_REASON.newer,
    );
    return sums.length > 0 ? [{ kind: 'parked', rows: sums }] : [];
  });

/** Sums that a run adds to D1: rows of a rollup's table, or parts of the cube. Names in statements come from the catalogue, never from what is stored. */
export type SumRows =
  | { table: StoredTable; columns: readonly string[]; rows: readonly (readonly unknown[])[] }
  | { parts: PartSource; rows: readonly PartRow[] };

/** The statement that adds sums. */
export const sumStatement = (db: D1Database, sums: SumRows): D1PreparedStatement =>
  'table' in sums ? additionStatement(db, sums) : addParts(db, sums.parts, sums.rows);

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

/** Adds rows with these columns to a rollup table. */
function additionStatement(
  db: D1Database,
  { table, columns, rows }: Extract<SumRows, { table: StoredTable }>,
): D1PreparedStatement {
  const keys = keysTogether(table);
  const own = additionColumns(table);
  const values = own.map((name) => {
    const at = columns.indexOf(name);
    return at < 0 ? (keys.includes(name) ? "''" : '0') : `value ->> ${at}`;
  });
  return toStatement(
    db,
    sql`INSERT INTO ${sql.raw(`${table} (${own.join(', ')}) SELECT ${values.join(', ')}`)}
      FROM json_each(${JSON.stringify(rows)}) WHERE true
      ON CONFLICT ${sql.raw(`(${keys.join(', ')}) DO UPDATE SET ${assigned(table)}`)}`,
  );
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
 * Sums as a parked message: `SumRows` that D1 refused, or rows of the outbox that only a newer release knows. They cannot be sent to the queue,
 * only added: see `replayParked`. `part` identifies the part of the outbox that they were in.
 */
export async function parkSums(
  applicationId: string,
  part: string,
  sums: unknown,
  reason: string,
): Promise<Parked> {
  const body = JSON.stringify({ sums });
  return { id: await parkedId(`${part}/${body}`, 'whole'), applicationId, body, reason };
}

/** Parses the body of a parked message; null for that of events, 'newer' for sums that this release does not know. */
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
