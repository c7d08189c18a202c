import { deleteDevice } from '../devices/devices.ts';
import { noteErased } from '../devices/unknown-devices.ts';
import { eraseTransactionsOf } from '../keys/transaction-book.ts';
import type { CounterLog } from '../log.ts';
import type { ObjectStore } from '../store.ts';
import { eraseFromFiles } from './file-erasures.ts';
import { blankEvents } from './log-reader.ts';

// Erasure from a counter. No run may be in progress (see `RunScheduler.betweenRuns`), and all of the log must be counted. Call these in a transaction.

/** See `CounterApi.eraseDevice`. */
export function eraseDevice(
  { store, seen }: Pick<CounterLog, 'store' | 'seen'>,
  { id, erasedName }: { id: string; erasedName: string },
  clickEventId: string | null,
  now: number,
): { found: boolean; events: number; told: string[] } {
  const found = deleteDevice(store, id);
  noteErased(store, [id], now);
  const events = blankEvents(store, id);
  for (const event of events) if (event.type === 'install') seen.addErased(event.id);
  eraseFromFiles(store, id, clickEventId);
  const told = eraseTransactionsOf(store, id, erasedName);
  return { found, events: events.length + eraseEvents(store, told), told };
}

/** See `CounterApi.eraseEvents`. */
export function eraseEvents(store: ObjectStore, ids: readonly string[]): number {
  for (const id of ids) eraseFromFiles(store, id);
  return ids.reduce((sum, id) => sum + blankEvents(store, id).length, 0);
}
