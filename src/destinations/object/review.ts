import type { ObjectStore } from '#counting';
import { NO_FAILURES, readState, reasonForOff, toTell, writeState } from './breaker.ts';
import type { Setup } from './setup.ts';

import { switchOff, tellFailing } from './switch.ts';

const FULL = 'More waits to be sent than can be kept';

type Reviewed = { d1: D1Database; store: ObjectStore; id: string; setup: Setup; now: number };

/** `offReason`: why the receiver wants nothing more; null if it has not said so. `isQuiet`: nothing waits to be sent. */
type Found = { offReason: string | null; isFull: boolean; isQuiet: boolean };

/** Tells people of failures, and switches off what fails for too long. Returns whether it did. Throws if D1 does not respond. */
export async function review(
  { d1, store, id, setup, now }: Reviewed,
  { offReason, isFull, isQuiet }: Found,
): Promise<boolean> {
  const state = readState(store);
  const told = { id, setup, now };
  const reason = offReason ?? reasonForOff(state, now) ?? (isFull ? FULL : null);
  if (reason !== null) {
    await switchOff(d1, told, reason);
    writeState(store, NO_FAILURES);
    return true;
  }
  const since = state.failingSince ?? now;
  const { failures, outageMs } = toTell(state, now);
  if (failures !== null) await tellFailing(d1, told, 'failures', { amount: failures, since });
  if (outageMs !== null) await tellFailing(d1, told, 'outage', { amount: outageMs, since });
  // Where nothing is to be sent, no outage goes on.
  const isOver = isQuiet && state.failingSince !== null;
  if (failures !== null || outageMs !== null || isOver) {
    writeState(store, {
      ...{ told: failures ?? state.told, outageTold: outageMs ?? state.outageTold },
      ...(isOver ? { failingSince: null, outageTold: 0 } : {}),
    });
  }
  return false;
}
