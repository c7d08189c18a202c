import { nextTurn } from '#lib/next-turn';

// All requests of an isolate share one thread. A report with much to add up gives way to requests that have just arrived, most of which need
// a few milliseconds.

/** A request that arrived this long ago has probably been answered. */
const SHORT_REQUEST_MS = 20;
/** However many requests arrive, a report goes on after this time. */
const LONGEST_PAUSE_MS = 20;

let lastArrival = 0;

/** Notes that a request has arrived in this isolate. */
export function noteArrival(): void {
  lastArrival = Date.now();
}

/** Lets others have their turn: at least one, and those that have just arrived until they are probably answered. */
export async function giveWay(): Promise<void> {
  const startedAt = Date.now();
  do await nextTurn();
  while (Date.now() - lastArrival < SHORT_REQUEST_MS && Date.now() - startedAt < LONGEST_PAUSE_MS);
}
