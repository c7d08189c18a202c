import { asc, eq, min, sql } from 'drizzle-orm';
import { MEASURES, type RollupTable } from '#catalogue';
import { batchWithRetry, columnList, isTransient, segments, toStatement } from '#db';
import { logWarning } from '#lib/log';
import {
  type Additions,
  type BlockRow,
  type MergedBlocks,
  PARK_REASON,
  type Parked,
  parkStatements,
  replaceBlocks,
  type SumRows,
  sumRowsOf,
  sumStatement,
} from '#rollup';
import { findRefused, parkRefused } from './refused-rows.ts';
import { outbox, progress } from './schema.ts';
import { hasStarted, keepSent, noteStarted } from './sent-parts.ts';
import { nextSequence, readApplied, SequenceGap } from './sequence-gap.ts';
import { readCounterName } from './shards.ts';
import { StatementLimit } from './statement-limit.ts';
import type { Store } from './store.ts';
import { moveOn, wasAborted } from './turn.ts';

/** The size of one D1 transaction: some hundred rows, so that other queries wait only a few milliseconds. */
const MAX_PART_CHARACTERS = 125_000;

type Kind = RollupTable | 'segments' | 'blocks' | 'merged' | 'parked';
type Part = [kind: Kind, rows: unknown[]][];

/** In the order of `SEGMENT_COLUMNS`. */
export type SegmentRow = [applicationId: string, id: number, country: string, os: string, appVersion: string];

const SEGMENT_COLUMNS = [
  segments.applicationId,
  segments.segmentId,
  segments.country,
  segments.os,
  segments.appVersion,
];

const insertSegments = (db: D1Database, rows: readonly unknown[]) =>
  toStatement(
    db,
    sql`INSERT INTO ${segments} (${columnList(SEGMENT_COLUMNS)})
      SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4
      FROM json_each(${JSON.stringify(rows)}) WHERE true ON CONFLICT DO NOTHING`,
  );

/** Appends merged blocks to the outbox. */
export function queueMerged(store: Store, merged: MergedBlocks, now: number): void {
  const part: Part = [['merged', [merged]]];
  const state = store.select({ sequence: progress.sequence }).from(progress).get();
  const sequence = (state?.sequence ?? 0) + 1;
  store
    .insert(outbox)
    .values({ sequence, payload: JSON.stringify(part), oldestAt: now })
    .run();
  store.update(progress).set({ sequence }).run();
}

/** Splits what a run adds to D1 into parts of a bounded size. */
export function* toParts(
  additions: readonly Additions<RollupTable>[],
  newSegments: readonly SegmentRow[],
  parked: readonly Parked[],
): Generator<string> {
  let [part, size]: [Part, number] = [[], 0];
  const rowsOf = function* (): Generator<[Kind, unknown]> {
    for (const row of newSegments) yield ['segments', row];
    let blocks = 0;
    for (const own of additions) {
      for (const row of sumRowsOf(own, blocks)) {
        if (row[0] === 'blocks') blocks++;
        yield row;
      }
    }
    for (const message of parked) yield ['parked', message];
  };
  for (const [kind, row] of rowsOf()) {
    const length = JSON.stringify(row).length;
    if (size > 0 && size + length > MAX_PART_CHARACTERS) {
      yield JSON.stringify(part);
      [part, size] = [[], 0];
    }
    const own = part.find((one) => one[0] === kind);
    if (own) own[1].push(row);
    else part.push([kind, [row]]);
    size += length + 1;
  }
  if (size > 0) yield JSON.stringify(part);
}

const isRollup = (kind: Kind): kind is RollupTable => kind in MEASURES;

/** A part of the outbox of a counter, by its name. */
type Source = { counter: string; sequence: number };

/** The sums among the rows of a part; null for rows of another kind. */
function sumsOf({ counter, sequence }: Source, [kind, rows]: Part[number]): SumRows | null {
  if (isRollup(kind)) return { table: kind, rows };
  return kind === 'blocks' ? { blocks: { ...readCounterName(counter), sequence }, rows } : null;
}

/** The statements that add rows of one kind. */
function statementsOf(
  db: D1Database,
  source: Source,
  [kind, rows]: Part[number],
  now: number,
): D1PreparedStatement[] {
  const sums = sumsOf(source, [kind, rows]);
  if (sums) return [sumStatement(db, sums)];
  switch (kind) {
    case 'segments':
      return [insertSegments(db, rows)];
    case 'merged':
      return (rows as MergedBlocks[]).flatMap((own) =>
        replaceBlocks(db, { ...readCounterName(source.counter), sequence: source.sequence }, own),
      );
    case 'parked':
      return parkStatements(db, rows as Parked[], now);
    default:
      throw new Error(`the outbox has rows of the unknown kind ${kind}`);
  }
}

/**
 * What is kept of a part that D1 has. Merged blocks say nothing that the blocks which they replaced did not. Parked messages may have to be
 * erased, so only parked sums are kept.
 */
const toKeep = (part: Part): Part =>
  part.flatMap(([kind, rows]): Part => {
    if (kind === 'merged') return [];
    if (kind !== 'parked') return [[kind, rows]];
    const sums = (rows as Parked[]).filter(({ reason }) => reason === PARK_REASON.refused);
    return sums.length > 0 ? [[kind, sums]] : [];
  });

/**
 * Adds the next part of the outbox to D1. It is added exactly once however often it is sent, because the part and its number are one
 * transaction. Rows that D1 refuses are parked, so that they do not hold up others. Returns false if the outbox is empty. Throws if D1
 * does not accept the part, which then remains the next one. `limit` counts the statements, `onBlocks` receives the added blocks.
 */
export async function flushNext(
  store: Store,
  db: D1Database,
  counter: string,
  now: number,
  {
    limit = new StatementLimit(),
    onBlocks = () => undefined,
  }: { limit?: StatementLimit; onBlocks?: (rows: BlockRow[]) => void } = {},
): Promise<boolean> {
  const next = store.select().from(outbox).orderBy(asc(outbox.sequence)).limit(1).get();
  if (!next) return false;
  const part: Part = JSON.parse(next.payload);
  const source = { counter, sequence: next.sequence };
  if (next.sequence === 1 && !hasStarted(store)) {
    const applied = await readApplied(db, counter);
    if (applied > 0) throw new SequenceGap(applied, 1);
    noteStarted(store, now);
  }
  try {
    await batchWithRetry(db, () =>
      limit.spend([
        moveOn(db, counter, next.sequence),
        ...part.flatMap((own) => statementsOf(db, source, own, now)),
      ]),
    );
  } catch (error) {
    if (!wasAborted(error)) {
      const rest = isTransient(error) ? null : await withoutRefused(db, source, part, limit);
      if (!rest) throw error;
      logWarning('rows refused', error, { counter });
      const payload = JSON.stringify(rest);
      store.update(outbox).set({ payload }).where(eq(outbox.sequence, next.sequence)).run();
      return true;
    }
    const applied = await readApplied(db, counter);
    // If the part is gone, another call that had timed out added it. Otherwise D1 may have added it and its answer was lost.
    const isWaiting = nextSequence(store) === next.sequence;
    if (isWaiting && applied !== next.sequence) throw new SequenceGap(applied, next.sequence);
  }
  keepSent(store, { ...next, payload: JSON.stringify(toKeep(part)) }, now);
  for (const [kind, rows] of part) if (kind === 'blocks') onBlocks(rows as BlockRow[]);
  return true;
}

/**
 * The part with the refused rows parked instead; null if D1 refuses no row by itself. A refused merge is left out, which leaves the blocks as
 * they are.
 */
async function withoutRefused(
  db: D1Database,
  source: Source,
  part: Part,
  limit: StatementLimit,
): Promise<Part | null> {
  if (part.length > 0 && part.every(([kind]) => kind === 'merged')) return [];
  const refused = await findRefused(
    db,
    part.flatMap((own) => sumsOf(source, own) ?? []),
    limit,
  );
  if (refused.length === 0) return null;
  const rows = new Set(refused.flatMap(({ sums }) => sums.rows));
  const rest = part
    .map(([kind, own]): Part[number] => [kind, own.filter((row) => !rows.has(row))])
    .filter(([, own]) => own.length > 0);
  const { counter, sequence } = source;
  const { applicationId } = readCounterName(counter);
  return [...rest, ['parked', await parkRefused(applicationId, `${counter}/${sequence}`, refused)]];
}

/** When the oldest waiting event was appended; null if the outbox is empty. */
export function oldestInOutbox(store: Store): number | null {
  return (
    store
      .select({ at: min(outbox.oldestAt) })
      .from(outbox)
      .get()?.at ?? null
  );
}
