// A client may tell one launch of its app twice: by the start of a session, and by a return without a session's id. A day therefore has as
// many launches as the kind that told more of them. This counts each of them once in any order, without knowing which belong together.

/** What told a launch: a session with an id of its own, or a return without one. */
export type Teller = 'session' | 'return';

/** Events that are delayed for longer than a device's last days with launches count as if they were its only ones. */
const MAX_DAYS = 7;

/**
 * Adds a launch on a day, in days since the acquisition. `stored` has, per day, how many more launches returns have told than sessions:
 * `0:1,3:-2`. Returns it with the launch, and whether the launch is new, because the other kind has not told it yet.
 */
export function addLaunch(stored: string, day: number, teller: Teller): { launches: string; isNew: boolean } {
  const lead = leadOf(stored);
  const before = lead.get(day) ?? 0;
  const isNew = teller === 'return' ? before >= 0 : before <= 0;
  lead.set(day, teller === 'return' ? before + 1 : before - 1);
  const kept = [...lead].filter(([, more]) => more !== 0).sort(([left], [right]) => left - right);
  const launches = kept.slice(-MAX_DAYS).map(([own, more]) => `${own}:${more}`);
  return { launches: launches.join(','), isNew };
}

/** Throws if the text cannot be parsed. */
function leadOf(stored: string): Map<number, number> {
  if (stored === '') return new Map();
  return new Map(
    stored.split(',').map((entry) => {
      if (!/^-?\d+:-?\d+$/.test(entry)) throw new Error('The launches cannot be parsed');
      const [day = 0, more = 0] = entry.split(':').map(Number);
      return [day, more];
    }),
  );
}
