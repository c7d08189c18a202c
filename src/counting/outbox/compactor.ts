import { compactParts, placesToCompact } from '#rollup';
import { readCounterName } from '../shards.ts';
import type { ObjectStore } from '../store.ts';
import { queueCompacted } from './outbox.ts';
import type { StatementLimit } from './statement-limit.ts';

/** The limit per call. The others wait for the next one. */
const MAX_COMPACTIONS = 50;

/** Compacts the parts of the cube that one counter's runs have added. No other counter writes them, and leaving them is safe. */
export class Compactor {
  /** Whether parts may have to be compacted. */
  private isDue = true;

  note(): void {
    this.isDue = true;
  }

  /** Appends compacted parts to the outbox. Returns false if there was nothing to compact. */
  async compact(
    store: ObjectStore,
    db: D1Database,
    counter: string,
    limit: StatementLimit,
  ): Promise<boolean> {
    if (!this.isDue || !limit.hasRoom) return false;
    const owner = readCounterName(counter);
    const due = await placesToCompact(db, owner);
    this.isDue = due.length > MAX_COMPACTIONS;
    for (const place of due.slice(0, MAX_COMPACTIONS)) {
      if (!limit.hasRoom) {
        this.isDue = true;
        break;
      }
      const compacted = await compactParts(db, owner, place);
      limit.spend([...compacted.replaced, place]);
      queueCompacted(store, compacted, Date.now());
    }
    return due.length > 0;
  }
}
