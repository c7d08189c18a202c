import { and, eq, sql } from 'drizzle-orm';
import { keyBlocks, keyGenerations, recentKeys } from '../schema.ts';
import { bytesOf, type ObjectStore } from '../store.ts';
import { wordsOf } from '../word-columns.ts';

/** 32-bit words per hash. The first one decides the block. */
const HASH_WORDS = 2;
/** Of at most 16 KB on average, so that looking up one key reads little. Smaller ones waste a third of their pages. */
const HASHES_PER_BLOCK = 2_048;
/** Every run reads all recent hashes of its days, and a compaction rewrites all blocks. */
const MIN_COMPACTED = 8_192;
const COMPACTED_SHARE = 4;

export const blockOf = (high: number, bits: number) => (bits === 0 ? 0 : high >>> (32 - bits));

type OfGeneration = typeof keyGenerations | typeof recentKeys | typeof keyBlocks;

/** The rows of a generation in one of its tables. */
export const generationOf = (table: OfGeneration, day: number, week: number) =>
  and(eq(table.day, day), eq(table.week, week));

/**
 * Compacts the recent hashes of a generation into its blocks once there are many. A hash is written only a few times while its generation
 * grows, hundreds per row. Reads and writes one old block at a time.
 */
export function compactWhenDue(store: ObjectStore, day: number, week: number): void {
  const own = generationOf(keyGenerations, day, week);
  const generation = store.select().from(keyGenerations).where(own).get();
  if (!generation) return;
  if (generation.recent < Math.max(MIN_COMPACTED, generation.blocked / COMPACTED_SHARE)) return;
  const total = generation.blocked + generation.recent;
  const oldBits = generation.bits;
  const bits = Math.max(oldBits, Math.ceil(Math.log2(total / HASHES_PER_BLOCK)));
  const ofRecent = generationOf(recentKeys, day, week);
  const recent = store.select({ hashes: recentKeys.hashes }).from(recentKeys).where(ofRecent).all();
  const added = splitByBlock(
    recent.map(({ hashes }) => wordsOf(hashes)),
    oldBits,
    0,
  );
  const blockRow = and(generationOf(keyBlocks, day, week), eq(keyBlocks.block, sql.placeholder('block')));
  const read = store.select({ hashes: keyBlocks.hashes }).from(keyBlocks).where(blockRow).prepare();
  const remove = store.delete(keyBlocks).where(blockRow).prepare();
  const write = store
    .insert(keyBlocks)
    .values({ day, week, block: sql.placeholder('block'), hashes: sql.placeholder('hashes') })
    .onConflictDoUpdate({
      target: [keyBlocks.day, keyBlocks.week, keyBlocks.block],
      set: { hashes: sql`excluded.hashes` },
    })
    .prepare();
  // From the last block down, because the parts of a split block get numbers that no lower block has.
  for (let block = 2 ** oldBits - 1; block >= 0; block--) {
    if (bits === oldBits && !added[block]?.length) continue;
    const [old] = generation.blocked > 0 ? read.all({ block }) : [];
    const lists = [old ? wordsOf(old.hashes) : new Uint32Array(), added[block] ?? new Uint32Array()];
    if (bits > oldBits && old) remove.run({ block });
    const first = block * 2 ** (bits - oldBits);
    for (const [index, words] of splitByBlock(lists, bits, first).entries()) {
      if (words.length > 0) write.run({ block: first + index, hashes: bytesOf(words) });
    }
  }
  store.delete(recentKeys).where(ofRecent).run();
  store.update(keyGenerations).set({ bits, blocked: total, recent: 0 }).where(own).run();
}

/** Splits hashes into their blocks, starting at `first`, with as many blocks as they need. */
function splitByBlock(lists: readonly Uint32Array[], bits: number, first: number): Uint32Array[] {
  const sizes: number[] = [];
  for (const words of lists) {
    for (let at = 0; at < words.length; at += HASH_WORDS) {
      const block = blockOf(words[at] ?? 0, bits) - first;
      while (sizes.length <= block) sizes.push(0);
      sizes[block] = (sizes[block] ?? 0) + HASH_WORDS;
    }
  }
  const parts = sizes.map((size) => new Uint32Array(size));
  const filled = sizes.map(() => 0);
  for (const words of lists) {
    for (let at = 0; at < words.length; at += HASH_WORDS) {
      const block = blockOf(words[at] ?? 0, bits) - first;
      const part = parts[block];
      const place = filled[block] ?? 0;
      if (!part) continue;
      part[place] = words[at] ?? 0;
      part[place + 1] = words[at + 1] ?? 0;
      filled[block] = place + HASH_WORDS;
    }
  }
  return parts;
}
