import { asc, eq, min } from 'drizzle-orm';
import type { RollupTable } from '#catalogue';
import { batchWithRetry, isTransient } from '#db';
import { logWarning } from '#lib/log';
import {
  type Additions,
  additionColumns,
  type Compacted,
  PARK_REASON,
  type Parked,
  type PartRow,
  parkStatements,
  ROLLUP_TABLES,
  replaceParts,
  type SegmentOfId,
  type StoredTable,
  type SumRows,
  sumRowsOf,
  sumStatement,
} from '#rollup';
import { outbox, progress } from '../schema.ts';
import { readCounterName } from '../shards.ts';
import type { Store } from '../store.ts';
import { findRefused, parkNewer, parkRefused } from './refused-rows.ts';
import { hasStarted, keepSent, noteStarted } from './sent-parts.ts';
import { nextSequence, readApplied, SequenceGap } from './sequence-gap.ts';
import { StatementLimit } from './statement-limit.ts';
import { moveOn, wasAborted } from './turn.ts';

/** The size of one D1 transaction: some hundred rows, so that other queries wait only a few milliseconds. */
const MAX_PART_CHARACTERS = 125_000;

/** Rows of the rollup tables with the names of their columns, and objects. */
type Rows =
  | { kind: 'sums'; table: StoredTable; columns: readonly string[]; rows: (readonly unknown[])[] }
  | { kind: 'parts'; rows: PartRow[] }
  | { kind: 'compacted'; rows: Compacted[] }
  | { kind: 'parked'; rows: Parked[] };
type OutboxPart = Rows[];

/** Appends compacted parts of the cube to the outbox. */
export function queueCompacted(store: Store, compacted: Compacted, now: number): void {
  const part: OutboxPart = [{ kind: 'compacted', rows: [compacted] }];
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
  let [part, size]: [OutboxPart, number] = [[], 0];
  const rowsOf = function* (): Generator<Rows> {
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
  };
  for (const added of rowsOf()) {
    const length = JSON.stringify(added.rows).length;
    if (size > 0 && size + length > MAX_PART_CHARACTERS) {
      yield JSON.stringify(part);
      [part, size] = [[], 0];
    }
    addTo(part, added);
    size += length;
  }
  if (size > 0) yield JSON.stringify(part);
}

/** Adds rows to those of the same kind and table. */
function addTo(part: OutboxPart, added: Rows): void {
  const tableOf = (rows: Rows) => ('table' in rows ? rows.table : null);
  const own = part.find((rows) => rows.kind === added.kind && tableOf(rows) === tableOf(added));
  if (own) (own.rows as unknown[]).push(...added.rows);
  else part.push(added);
}

/** A part of the outbox of a counter, by its name. */
type OutboxSource = { counter: string; sequence: number };

const KINDS: Readonly<Record<Rows['kind'], true>> = {
  sums: true,
  parts: true,
  compacted: true,
  parked: true,
};

/** Whether this release can add these rows. */
const isKnown = (own: Rows): boolean =>
  Object.hasOwn(KINDS, own.kind) && (own.kind !== 'sums' || ROLLUP_TABLES.includes(own.table));

/**
 * A part of the outbox. What a newer release stored, and this one cannot add, is parked: after a rollback it holds up nothing else, and
 * can be added once the newer release is back.
 */
async function readPart({ counter, sequence }: OutboxSource, payload: string): Promise<OutboxPart> {
  const part: OutboxPart = JSON.parse(payload);
  const newer = part.filter((own) => !isKnown(own));
  if (newer.length === 0) return part;
  const { applicationId } = readCounterName(counter);
  return [
    ...part.filter(isKnown),
    { kind: 'parked', rows: await parkNewer(applicationId, `${counter}/${sequence}`, newer) },
  ];
}

/** The sums of a part's rows; null for rows of another kind. */
function sumsOf({ counter, sequence }: OutboxSource, own: Rows): SumRows | null {
  if (own.kind === 'sums') return own;
  if (own.kind === 'parts') return { parts: { ...readCounterName(counter), sequence }, rows: own.rows };
  return null;
}

/** The statements that add rows of one kind. */
function statementsOf(db: D1Database, source: OutboxSource, own: Rows, now: number): D1PreparedStatement[] {
  const sums = sumsOf(source, own);
  if (sums) return [sumStatement(db, sums)];
  if (own.kind === 'compacted') {
    const part = { ...readCounterName(source.counter), sequence: source.sequence };
    return own.rows.flatMap((compacted) => replaceParts(db, part, compacted, now));
  }
  return own.kind === 'parked' ? parkStatements(db, own.rows, now) : [];
}

/**
 * What is kept of a part that D1 has. Compacted parts say nothing that the parts which they replaced did not. Parked messages may have to be
 * erased, so only parked sums are kept.
 */
const toKeep = (part: OutboxPart): OutboxPart =>
  part.flatMap((own): OutboxPart => {
    if (own.kind === 'compacted') return [];
    if (own.kind !== 'parked') return [own];
    const sums = own.rows.filter(
      ({ reason }) => reason === PARK_REASON.refused || reason === PARK_REASON.newer,
    );
    return sums.length > 0 ? [{ kind: 'parked', rows: sums }] : [];
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
  const source = { counter, sequence: next.sequence };
  const part = await readPart(source, next.payload);
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
  if (part.some(({ kind }) => kind === 'parts')) onParts();
  return true;
}

/**
 * The part with the refused rows parked instead; null if D1 refuses no row by itself. A refused compaction is left out, which leaves the
 * parts as they are.
 */
async function withoutRefused(
  db: D1Database,
  source: OutboxSource,
  part: OutboxPart,
  limit: StatementLimit,
): Promise<OutboxPart | null> {
  if (part.length > 0 && part.every(({ kind }) => kind === 'compacted')) return [];
  const refused = await findRefused(
    db,
    part.flatMap((own) => sumsOf(source, own) ?? []),
    limit,
  );
  if (refused.length === 0) return null;
  const rows = new Set<unknown>(refused.flatMap(({ sums }) => sums.rows));
  const rest = part.flatMap((own): OutboxPart => {
    const taken = (own.rows as unknown[]).filter((row) => !rows.has(row));
    return taken.length > 0 ? [{ ...own, rows: taken } as Rows] : [];
  });
  const { counter, sequence } = source;
  const { applicationId } = readCounterName(counter);
  return [
    ...rest,
    { kind: 'parked', rows: await parkRefused(applicationId, `${counter}/${sequence}`, refused) },
  ];
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
