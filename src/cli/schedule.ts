import { MINUTE_MS } from '#lib/time';

// Cloudflare triggers the Worker's cron. Locally, wrangler does not, so `npm start` does.

/** Wrangler's own URL for this. It listens only on this machine and refuses requests with any other host name. */
const TRIGGER = '/cdn-cgi/local/scheduled';

/** Runs what the Worker does in a minute, `at` (epoch milliseconds) or now. Never throws. */
export async function triggerMinute(
  baseUrl: string,
  { at = Date.now(), ended = new AbortController().signal }: { at?: number; ended?: AbortSignal } = {},
): Promise<void> {
  const query = new URLSearchParams({ cron: '* * * * *', time: `${at}` });
  try {
    const response = await fetch(`${baseUrl}${TRIGGER}?${query}`, { signal: ended });
    // The Worker has already logged what failed.
    if (!response.ok) console.error('The work of a minute failed.');
  } catch (error) {
    if (!ended.aborted) console.error(`The work of a minute could not be triggered: ${String(error)}`);
  }
}

/** Triggers the Worker's cron at once, to catch up after a stop, and every minute until `ended`. */
export function runMinutes(baseUrl: string, ended: AbortSignal): void {
  let isRunning = false;
  const run = async () => {
    // Not again while the last run takes longer than a minute.
    if (isRunning) return;
    isRunning = true;
    await triggerMinute(baseUrl, { ended });
    isRunning = false;
  };
  const waitForNext = () => {
    const timer = setTimeout(
      () => {
        void run();
        waitForNext();
      },
      MINUTE_MS - (Date.now() % MINUTE_MS),
    );
    ended.addEventListener('abort', () => clearTimeout(timer), { once: true });
  };
  void run();
  if (!ended.aborted) waitForNext();
}
