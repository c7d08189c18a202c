export const DIGESTS = ['never', 'daily', 'weekly'] as const;
export type Digest = (typeof DIGESTS)[number];

const AT = '08:00';
/** Every UTC offset is a multiple of this. */
const STEP_MS = 15 * 60_000;
const MAX_STEPS = 8 * 96;

/**
 * When the next digest is due, in epoch milliseconds: at 8 a.m. in the time zone, on Mondays if weekly; null for never. Pure.
 */
export function nextDigestAt(digest: Digest, timezone: string, now: number): number | null {
  if (digest === 'never') return null;
  const clock = new Intl.DateTimeFormat('en-GB', {
    timeZone: timezone,
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  const first = (Math.floor(now / STEP_MS) + 1) * STEP_MS;
  for (let step = 0; step < MAX_STEPS; step++) {
    const at = first + step * STEP_MS;
    const shown = clock.format(at);
    if (shown.endsWith(AT) && (digest === 'daily' || shown.startsWith('Mon'))) return at;
  }
  throw new Error(`found no 8 a.m. in ${timezone}`);
}
