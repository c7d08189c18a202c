import { moment } from '#lib/format';
import { HOUR_MS } from '#lib/time';

// Compares the state of an application with a limit. Pure: the state is read elsewhere.

/** The result of a check. `firing` is null if there is not enough data to tell; the alert then keeps its state. */
export type Finding = { firing: boolean | null; text: string };

/** `lastEventAt` is null if the application never sent an event, or none for longer than counters remember. */
export function findSilence(input: {
  hours: number;
  lastEventAt: number | null;
  hasDevices: boolean;
  timezone: string;
  now: number;
}): Finding {
  const { hours, lastEventAt, hasDevices, timezone, now } = input;
  if (lastEventAt === null) {
    if (!hasDevices) return { firing: null, text: 'No event has arrived yet.' };
    return { firing: true, text: 'No event has arrived for more than a week.' };
  }
  const since = `${moment(lastEventAt, timezone).slice(0, 16)} (${timezone})`;
  const firing = now - lastEventAt > hours * HOUR_MS;
  const text = firing ? `No event has arrived since ${since}.` : `The last event arrived at ${since}.`;
  return { firing, text };
}

/** `problems` are sentences. */
export function findProblems(problems: readonly string[], threshold: number): Finding {
  const firing = problems.length >= threshold;
  return { firing, text: problems.length === 0 ? 'Health shows no problems.' : problems.join(' ') };
}
