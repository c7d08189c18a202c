import { and, eq, sql } from 'drizzle-orm';
import { keyBlocks, keyGenerations, recentKeys } from './schema.ts';
import { bytesOf, type Store, wordsOf } from './store.ts';

/** The hashes of a block: 8 KB at most on average, so that one key is found by reading little. */
const MAX_BLOCK_HASHES = 1_024;
/** Every run reads all recent hashes of the days it touches; a merge writes all blocks again. */
const MIN_MERGE = 8_192;
const MERGE_SHARE = 16;

/**
 * Merges the recent hashes of a generation into its blocks once there are many of them: a hash is written some 16 times in all
 * while its day grows, thousands to a row. Reads and writes one old block at a time.
 */
export function mergeWhenDue(store: Store, day: number, week: number): void {
  const own = and(eq(keyGenerations.day, day), eq(keyGenerations.week, week));
  const generation = store.select().from(keyGenerations).where(own).get();
  if (!generation || generation.recent < Math.max(MIN_MERGE, generation.blocked / MERGE_SHARE)) return;
  const total = generation.blocked + generation.recent;
  const oldBits = generation.bits;
  const bits = Math.max(oldBits, Math.ceil(Math.log2(total / MAX_BLOCK_HASHES)));
  const recent = readRecent(store, day, week, oldBits);
  const read = store
    .select({ hashes: keyBlocks.hashes })
    .from(keyBlocks)
    .where(
      and(eq(keyBlocks.day, day), eq(keyBlocks.week, week), eq(keyBlocks.block, sql.placeholder('block'))),
    )
    .prepare();
  const write = store
    .insert(keyBlocks)
    .values({ day, week, block: sql.placeholder('block'), hashes: sql.placeholder('hashes') })
    .onConflictDoUpdate({
      target: [keyBlocks.day, keyBlocks.week, keyBlocks.block],
      set: { hashes: sql`excluded.hashes` },
    })
    .prepare();
  // From the last block down: the parts of a block have numbers that no lower block has.
  for (let block = 2 ** oldBits - 1; block >= 0; block--) {
    const added = recent.get(block) ?? [];
    const [old] = generation.blocked > 0 ? read.all({ block }) : [];
    if (added.length === 0 && (bits === oldBits || !old)) continue;
    const parts = split([old ? wordsOf(old.hashes) : [], added], bits);
    if (bits !== oldBits && old) {
      store
        .delete(keyBlocks)
        .where(and(eq(keyBlocks.day, day), eq(keyBlocks.week, week), eq(keyBlocks.block, block)))
        .run();
    }
    for (const [part, words] of parts) {
      write.run({ block: part, hashes: bytesOf(Uint32Array.from(words)) });
    }
  }
  store
    .delete(recentKeys)
    .where(and(eq(recentKeys.day, day), eq(recentKeys.week, week)))
    .run();
  store.update(keyGenerations).set({ bits, blocked: total, recent: 0 }).where(own).run();
}

const blockOf = (high: number, bits: number) => (bits === 0 ? 0 : high >>> (32 - bits));

/** Words of the recent hashes by the block that they belong to. */
function readRecent(store: Store, day: number, week: number, bits: number): Map<number, number[]> {
  const rows = store
    .select({ hashes: recentKeys.hashes })
    .from(recentKeys)
    .where(and(eq(recentKeys.day, day), eq(recentKeys.week, week)))
    .all();
  return split(
    rows.map(({ hashes }) => wordsOf(hashes)),
    bits,
  );
}

function split(lists: readonly ArrayLike<number>[], bits: number): Map<number, number[]> {
  const parts = new Map<number, number[]>();
  for (const words of lists) {
    for (let at = 0; at < words.length; at += 2) {
      const [high, low] = [words[at] ?? 0, words[at + 1] ?? 0];
      const block = blockOf(high, bits);
      const part = parts.get(block);
      if (part) part.push(high, low);
      else parts.set(block, [high, low]);
    }
  }
  return parts;
}
