import { asc, eq, min } from 'drizzle-orm';
import type { RollupTable } from '#catalogue';
import { batchWithRetry, isTransient } from '#db';
import { logWarning } from '#lib/log';
import {
  type Additions,
  type Compacted,
  PARK_REASON,
  type Parked,
  parkStatements,
  ROLLUP_TABLES,
  replaceParts,
  type SegmentOfId,
  type StoredTable,
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

type Kind = StoredTable | 'parts' | 'compacted' | 'parked';
type Part = [kind: Kind, rows: unknown[]][];

/** Appends compacted parts of the cube to the outbox. */
export function queueCompacted(store: Store, compacted: Compacted, now: number): void {
  const part: Part = [['compacted', [compacted]]];
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
  segmentOf: SegmentOfId,
  parked: readonly Parked[],
): Generator<string> {
  let [part, size]: [Part, number] = [[], 0];
  const rowsOf = function* (): Generator<[Kind, unknown]> {
    let parts = 0;
    for (const own of additions) {
      for (const row of sumRowsOf(own, parts, segmentOf)) {
        if (row[0] === 'parts') parts++;
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

const isStored = (kind: Kind): kind is StoredTable => ROLLUP_TABLES.some((table) => table === kind);

/** A part of the outbox of a counter, by its name. */
type Source = { counter: string; sequence: number };

/** The sums among the rows of a part; null for rows of another kind. */
function sumsOf({ counter, sequence }: Source, [kind, rows]: Part[number]): SumRows | null {
  if (isStored(kind)) return { table: kind, rows };
  return kind === 'parts' ? { parts: { ...readCounterName(counter), sequence }, rows } : null;
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
    case 'compacted':
      return (rows as Compacted[]).flatMap((own) =>
        replaceParts(db, { ...readCounterName(source.counter), sequence: source.sequence }, own, now),
      );
    case 'parked':
      return parkStatements(db, rows as Parked[], now);
    default:
      throw new Error(`the outbox has rows of the unknown kind ${kind}`);
  }
}

/**
 * What is kept of a part that D1 has. Compacted parts say nothing that the parts which they replaced did not. Parked messages may have to be
 * erased, so only parked sums are kept.
 */
const toKeep = (part: Part): Part =>
  part.flatMap(([kind, rows]): Part => {
    if (kind === 'compacted') return [];
    if (kind !== 'parked') return [[kind, rows]];
    const sums = (rows as Parked[]).filter(({ reason }) => reason === PARK_REASON.refused);
    return sums.length > 0 ? [[kind, sums]] : [];
  });

/**
 * Adds the next part of the outbox to D1. It is added exactly once however often it is sent, because the part and its number are one
 * transaction. Rows that D1 refuses are parked, so that they do not hold up others. Returns false if the outbox is empty. Throws if D1
 * does not accept the part, which then remains the next one. `limit` counts the statements, `onParts` is called if parts of the cube were added.
 */
export async function flushNext(
  store: Store,
  db: D1Database,
  counter: string,
  now: number,
  {
    limit = new StatementLimit(),
    onParts = () => undefined,
  }: { limit?: StatementLimit; onParts?: () => void } = {},
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
  if (part.some(([kind]) => kind === 'parts')) onParts();
  return true;
}

/**
 * The part with the refused rows parked instead; null if D1 refuses no row by itself. A refused compaction is left out, which leaves the
 * parts as they are.
 */
async function withoutRefused(
  db: D1Database,
  source: Source,
  part: Part,
  limit: StatementLimit,
): Promise<Part | null> {
  if (part.length > 0 && part.every(([kind]) => kind === 'compacted')) return [];
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
