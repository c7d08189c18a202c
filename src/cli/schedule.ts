import { MINUTE_MS } from '#lib/time';
import { readConfig } from './local-state.ts';

// Cloudflare triggers the Worker's schedules. Locally, wrangler does not, so `npm start` does.

/** Wrangler's own URL for this. It listens only on this machine and refuses requests with any other host name. */
const TRIGGER = '/cdn-cgi/local/scheduled';

/** The schedules of wrangler.toml. */
export async function readSchedules(): Promise<string[]> {
  const { triggers } = await readConfig();
  return triggers?.crons ?? [];
}

/**
 * Whether a schedule is due in the minute of `at`, in UTC. Supports `*`, numbers and lists of numbers in the first two of its five fields,
 * and only `*` in the others. Throws for any other form.
 */
export function isDue(schedule: string, at: Date): boolean {
  const [minute = '', hour = '', ...rest] = schedule.split(' ');
  const isKnown = /^(\*|\d+(,\d+)*)$/;
  if (rest.join(' ') !== '* * *' || ![minute, hour].every((field) => isKnown.test(field)))
    throw new Error(`The schedule "${schedule}" has a form that npm start does not support`);
  const matches = (field: string, value: number) =>
    field === '*' || field.split(',').map(Number).includes(value);
  return matches(minute, at.getUTCMinutes()) && matches(hour, at.getUTCHours());
}

/** Runs what a schedule of a local service is for. Never throws. */
export async function triggerSchedule(
  baseUrl: string,
  schedule: string,
  ended: AbortSignal = new AbortController().signal,
): Promise<void> {
  try {
    const response = await fetch(`${baseUrl}${TRIGGER}?${new URLSearchParams({ cron: schedule })}`, {
      signal: ended,
    });
    // The Worker has already logged what failed.
    if (!response.ok) console.error(`The schedule "${schedule}" failed.`);
  } catch (error) {
    if (!ended.aborted) console.error(`The schedule "${schedule}" could not be triggered: ${String(error)}`);
  }
}

/** Triggers due schedules every minute until `ended`. Those that run every minute also run immediately, to catch up after a stop. */
export function runSchedules(baseUrl: string, schedules: readonly string[], ended: AbortSignal): void {
  const running = new Set<string>();
  const run = async (schedule: string) => {
    // Do not start a schedule again while its last run takes longer than a minute.
    if (running.has(schedule)) return;
    running.add(schedule);
    await triggerSchedule(baseUrl, schedule, ended);
    running.delete(schedule);
  };
  const waitForNext = () => {
    const timer = setTimeout(
      () => {
        const now = new Date();
        for (const schedule of schedules) if (isDue(schedule, now)) void run(schedule);
        waitForNext();
      },
      MINUTE_MS - (Date.now() % MINUTE_MS),
    );
    ended.addEventListener('abort', () => clearTimeout(timer), { once: true });
  };
  for (const schedule of schedules) if (schedule === '* * * * *') void run(schedule);
  if (!ended.aborted) waitForNext();
}
