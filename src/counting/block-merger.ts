import { type BlockPlace, type BlockRow, mergeBlocks, placesToMerge } from '#rollup';
import { queueMerged } from './outbox.ts';
import { readCounterName } from './shards.ts';
import type { Store } from './store.ts';

/** The limit per call. The others wait for the next one. */
const MAX_MERGES = 50;

/** Merges the blocks of one counter where its runs have added many. No other counter writes them, and leaving them unmerged is safe. */
export class BlockMerger {
  /** Where blocks were added since the last merge. */
  private readonly places = new Map<string, BlockPlace>();

  note(rows: readonly BlockRow[]): void {
    for (const [rollup, bucket, fromDay] of rows) {
      this.places.set(`${rollup}/${bucket}/${fromDay}`, { rollup, bucket, fromDay });
    }
  }

  /** Appends merged blocks to the outbox. Returns false if there was nothing to merge. */
  async merge(store: Store, db: D1Database, counter: string): Promise<boolean> {
    if (this.places.size === 0) return false;
    const owner = readCounterName(counter);
    const noted = [...this.places.values()];
    const due = await placesToMerge(db, owner, noted);
    this.places.clear();
    for (const { rollup, bucket, fromDay } of due.slice(MAX_MERGES))
      this.note([[rollup, bucket, fromDay, 0, '']]);
    for (const place of due.slice(0, MAX_MERGES)) {
      queueMerged(store, await mergeBlocks(db, owner, place), Date.now());
    }
    return due.length > 0;
  }
}
