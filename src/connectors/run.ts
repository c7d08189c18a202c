import { and, asc, eq, isNull, lt, lte, or, sql } from 'drizzle-orm';
import { noticeEachChannel } from '#alerts/notice';
import { applications, connectors, type Database, database, hasRow, retryTransient } from '#db';
import { settingsOf } from '#env';
import { decryptText } from '#lib/crypto';
import type { Fetch } from '#lib/input/fetch';
import { hideSecrets } from '#lib/input/hide-secrets';
import { isolate } from '#lib/input/isolate';
import { logWarning } from '#lib/log';
import { addDays, DAY_MS, HOUR_MS } from '#lib/time';
import { ReportFault } from '#networks/costs';
import type { ApplicationRow } from '#teams';
import { type ConnectorRow, CUT_OFF_MS } from './connector-row.ts';
import type { Sleep } from './fetch-answers.ts';
import { type ConnectorKind, kindOf } from './kinds.ts';
import { readAdRevenue } from './read-ad-revenue.ts';
import { readCosts } from './read-costs.ts';
import { ReportBudget } from './report-budget.ts';
import { isPending, nextDailyAt, nextWindow, type Window } from './windows.ts';

/** Per run of the cron, which has six connections and 1,000 requests. A run of the next minute takes the next connectors. */
const RUNS_AT_ONCE = 4;
/** How long a report may be in the making. */
const MAX_JOB_MS = 2 * HOUR_MS;
/** So many failures in a row are told, once. */
const FAILURES_TOLD = 3;
const MAX_ERROR = 300;
const MIN_SECRET = 6;

const CUT_OFF = 'the last run was cut off before its end';

/** Why a run failed, without any of its keys, whatever a platform answered. */
function reasonOf(error: unknown, credentials: Readonly<Record<string, string>>): string {
  const text = error instanceof Error ? error.message : String(error);
  const secrets = Object.values(credentials).filter((secret) => secret.length >= MIN_SECRET);
  return hideSecrets(text, secrets).slice(0, MAX_ERROR);
}

async function credentialsOf(env: Env, row: ConnectorRow): Promise<Record<string, string>> {
  const text = await decryptText(settingsOf(env).KEY_ENCRYPTION_SECRET, row.credentials);
  if (text === null) throw new Error('the credentials were encrypted under another secret; enter them again');
  return JSON.parse(text);
}

/** The row while it has the credentials of the run: once they are replaced, the run says nothing of the connector's state any more. */
const asRun = ({ id, credentials }: ConnectorRow) =>
  and(eq(connectors.id, id), eq(connectors.credentials, credentials));

/** The statements after a failed run. The team's channels are told once, until a run succeeds. */
function failureStatements(
  db: Database,
  row: ConnectorRow,
  label: string,
  application: Pick<ApplicationRow, 'name' | 'timezone' | 'currency'>,
  { reason, retryAt, now }: { reason: string; retryAt: number; now: number },
) {
  const failures = row.failures + 1;
  const heading = `${isolate(application.name)} · ${label}: ${failures} runs in a row have failed`;
  const message = {
    ...{ heading, sentences: [`Last error: ${reason}`], figures: [], comparedWith: [] },
    link: {
      path: `/connectors/${row.id}?${new URLSearchParams({ app: row.applicationId })}`,
      label: 'Open the connector',
    },
  };
  const notice = { id: `${row.id}:${now}`, subject: heading, message, now };
  const isThere = hasRow(connectors, asRun(row));
  return [
    db
      .update(connectors)
      .set({ lastRunAt: now, lastError: reason, failures, job: null, startedAt: null, nextRunAt: retryAt })
      .where(asRun(row)),
    ...(failures === FAILURES_TOLD
      ? [noticeEachChannel(db, row.applicationId, notice, sql`${isThere}`)]
      : []),
  ] as const;
}

/** What a connector's row has after a run that succeeded: a step of its backfill follows at once. */
function afterSuccess(
  kind: ConnectorKind,
  row: ConnectorRow,
  { to, isBackfill }: Window,
  timezone: string,
  now: number,
): Partial<ConnectorRow> {
  const dailyAt = nextDailyAt(kind, row, timezone, now);
  const { backfill } = row;
  const common = { lastRunAt: now, lastError: null, failures: 0, job: null, startedAt: null };
  if (!backfill) return { ...common, lastSuccessAt: now, nextRunAt: dailyAt };
  const left = isBackfill ? { ...backfill, next: addDays(to, 1) } : { ...backfill, dailyAt };
  return {
    ...common,
    ...(isBackfill ? {} : { lastSuccessAt: now }),
    backfill: left,
    nextRunAt: isPending(left) ? now : left.dailyAt,
  };
}

/**
 * Fetches a connector's days and replaces what is stored of them, all or none: nothing of a failed run is kept. A report that the platform is still
 * making is read on by a later run. Returns why it failed, and null otherwise. Idempotent. Does not throw for what a platform answers; throws if
 * the database cannot be read or written.
 */
export async function runConnector(
  env: Env,
  row: ConnectorRow,
  now: number,
  fetcher: Fetch = (url, init) => fetch(url, init),
  sleep: Sleep = (ms) => scheduler.wait(ms),
): Promise<string | null> {
  const budget = new ReportBudget();
  try {
    return await runWithin(budget, env, row, { fetcher, sleep, now });
  } finally {
    budget.release();
  }
}

async function runWithin(
  budget: ReportBudget,
  env: Env,
  row: ConnectorRow,
  { fetcher, sleep, now }: { fetcher: Fetch; sleep: Sleep; now: number },
): Promise<string | null> {
  const db = database(env.DB);
  const own = eq(connectors.id, row.id);
  const [application] = await db.select().from(applications).where(eq(applications.id, row.applicationId));
  if (!application) return null;
  const { timezone, currency } = application;
  const kind = kindOf(row.kind);
  let credentials: Record<string, string> = {};
  // A connector that was deleted meanwhile leaves nothing.
  const when = hasRow(connectors, own);
  const read = async () => {
    if (!kind) throw new Error(`this release knows no connector ${row.kind}`);
    const window: Window = row.job ?? nextWindow(kind, row, timezone, now);
    credentials = await credentialsOf(env, row);
    const context = { credentials, currency, fetcher, sleep, now, when, budget };
    const outcome =
      kind.family === 'costs'
        ? await readCosts(db, kind, row, window, context)
        : await readAdRevenue(db, kind, row, window, context);
    if ('waitSeconds' in outcome) {
      const { from, to, isBackfill } = window;
      const startedAt = row.job?.startedAt ?? now;
      if (now - startedAt > MAX_JOB_MS) throw new Error('the report was not ready after two hours');
      const job = { from, to, isBackfill, startedAt, state: outcome.state };
      const nextRunAt = now + outcome.waitSeconds * 1000;
      return { set: { lastRunAt: now, startedAt: null, job, nextRunAt }, statements: () => [] };
    }
    const { statements, change, account, expiresAt } = outcome;
    const after = afterSuccess(kind, { ...row, account }, window, timezone, now);
    return { set: { ...after, lastChange: change, account, credentialsExpireAt: expiresAt }, statements };
  };
  let done: Awaited<ReturnType<typeof read>>;
  try {
    done = await read();
  } catch (error) {
    const reason = reasonOf(error, credentials);
    logWarning(`connector ${row.id} failed`, reason, { application_id: row.applicationId });
    const seconds = error instanceof ReportFault ? error.retryAfterSeconds : null;
    const retryAt = now + (seconds === null ? HOUR_MS : Math.min(DAY_MS, seconds * 1000));
    const label = kind?.label ?? row.kind;
    await retryTransient(() =>
      db.batch(failureStatements(db, row, label, application, { reason, retryAt, now })),
    );
    return reason;
  }
  const { set, statements } = done;
  await retryTransient(() => db.batch([db.update(connectors).set(set).where(asRun(row)), ...statements()]));
  return null;
}

/** The connector as it runs, unless another run has taken it. If this run is cut off, it is tried again in an hour. */
async function claim(db: Database, row: ConnectorRow, now: number): Promise<ConnectorRow | undefined> {
  const cutOff = row.startedAt === null ? {} : { lastError: CUT_OFF, failures: row.failures + 1, job: null };
  const [claimed] = await db
    .update(connectors)
    .set({ nextRunAt: now + HOUR_MS, startedAt: now, ...cutOff })
    .where(and(eq(connectors.id, row.id), eq(connectors.nextRunAt, row.nextRunAt)))
    .returning();
  return claimed;
}

/**
 * Runs the connectors that are due, the longest due first and beside each other, so that none waits for a slow one. Throws if one could not be
 * written.
 */
export async function runDueConnectors(env: Env, now: number, fetcher?: Fetch, sleep?: Sleep): Promise<void> {
  const db = database(env.DB);
  const due = await db
    .select({ connector: connectors })
    .from(connectors)
    .innerJoin(applications, eq(applications.id, connectors.applicationId))
    .where(
      and(
        lte(connectors.nextRunAt, now),
        or(isNull(connectors.startedAt), lt(connectors.startedAt, now - CUT_OFF_MS)),
      ),
    )
    .orderBy(asc(connectors.nextRunAt))
    .limit(RUNS_AT_ONCE);
  const runs = due.map(async ({ connector }) => {
    const claimed = await claim(db, connector, now);
    if (claimed) await runConnector(env, claimed, now, fetcher, sleep);
  });
  for (const outcome of await Promise.allSettled(runs)) {
    if (outcome.status === 'rejected') throw outcome.reason;
  }
}
