import { type BlockPlace, type BlockRow, mergeBlocks, placesToMerge } from '#rollup';
import { queueMerged } from './outbox.ts';
import { readCounterName } from './shards.ts';
import type { Store } from './store.ts';

/** Of one time; the others wait for the next. */
const MAX_MERGES = 50;

/** Puts the small blocks of one counter together, where its runs have added many. No one else writes them, and nothing is lost if they stay. */
export class BlockMerger {
  /** Where blocks were added since the last time. */
  private readonly places = new Map<string, BlockPlace>();

  note(rows: readonly BlockRow[]): void {
    for (const [rollup, bucket, fromDay] of rows) {
      this.places.set(`${rollup}/${bucket}/${fromDay}`, { rollup, bucket, fromDay });
    }
  }

  /** Puts merged blocks into the outbox; false where there was nothing to merge. */
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
