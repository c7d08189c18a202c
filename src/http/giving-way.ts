import { nextTurn } from '#lib/next-turn';

// All requests of an isolate share one thread. A report with much to add up gives way to requests that have just arrived, most of which need
// a few milliseconds.

/** A request that arrived this long ago has probably been answered. */
const SHORT_REQUEST_MS = 20;
/** However many requests arrive, a report goes on after this time. */
const LONGEST_PAUSE_MS = 20;

let arrivals = 0;
let lastArrival = 0;

/** Notes that a request has arrived in this isolate. */
export function noteArrival(): void {
  arrivals++;
  lastArrival = Date.now();
}

/**
 * Returns what lets others have their turn whenever it is called: at least one turn, and if requests have arrived since, until these are
 * probably answered.
 */
export function givingWay(): () => Promise<void> {
  const before = arrivals;
  const isSomeoneWaiting = () => arrivals > before && Date.now() - lastArrival < SHORT_REQUEST_MS;
  return async () => {
    const startedAt = Date.now();
    do await nextTurn();
    while (isSomeoneWaiting() && Date.now() - startedAt < LONGEST_PAUSE_MS);
  };
}
