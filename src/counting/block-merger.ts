import { type BlockPlace, type BlockRow, mergeBlocks, placesToMerge } from '#rollup';
import { queueMerged } from './outbox.ts';
import { readCounterName } from './shards.ts';
import type { StatementLimit } from './statement-limit.ts';
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
  async merge(store: Store, db: D1Database, counter: string, limit: StatementLimit): Promise<boolean> {
    if (this.places.size === 0 || !limit.hasRoom) return false;
    const owner = readCounterName(counter);
    const due = await placesToMerge(db, owner, [...this.places.values()]);
    this.places.clear();
    for (const [index, place] of due.entries()) {
      if (index < MAX_MERGES && limit.hasRoom) {
        limit.spend([place]);
        queueMerged(store, await mergeBlocks(db, owner, place), Date.now());
      } else {
        this.note([[place.rollup, place.bucket, place.fromDay, 0, '']]);
      }
    }
    return due.length > 0;
  }
}
