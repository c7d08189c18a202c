import { logError, underlying } from '#lib/log';

/**
 * Runs all chores to their end, even if some fail. Logs each failure under the chore's name, then throws one error that names all of
 * them, so that the cron run counts as failed.
 */
export async function runChores(chores: Record<string, Promise<unknown>>): Promise<void> {
  const names = Object.keys(chores);
  const outcomes = await Promise.allSettled(Object.values(chores));
  const failed = outcomes.flatMap((outcome, index) =>
    outcome.status === 'rejected' ? [{ name: names[index] ?? '', reason: underlying(outcome.reason) }] : [],
  );
  for (const { name, reason } of failed) {
    logError('chore failed', reason, { chore: name });
  }
  if (failed.length === 0) return;
  throw new AggregateError(
    failed.map(({ reason }) => reason),
    `Failed chores: ${failed.map(({ name }) => name).join(', ')}`,
  );
}
