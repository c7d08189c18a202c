import type { Caller } from '#audit';
import { retryCall } from '#counting';
import { auditUse, type OwnDestination } from './destinations.ts';
import type { Attempt, Replay } from './object/api.ts';

/** Sends an event that was made up. A success switches the destination on again. Waits up to 15 s for the receiver. */
export async function testDestination(
  env: Env,
  caller: Caller,
  own: OwnDestination,
): Promise<Attempt | { skipped: string }> {
  await auditUse(caller, own, 'destination.tested');
  return await env.DESTINATIONS.getByName(own.destination.id).sendTest();
}

/** Has deliveries sent again. Returns how many. */
export async function replayDeliveries(
  env: Env,
  caller: Caller,
  own: OwnDestination,
  what: Replay,
): Promise<number> {
  await auditUse(caller, own, 'destination.replayed');
  return retryCall<number>(async () => await env.DESTINATIONS.getByName(own.destination.id).replay(what));
}
