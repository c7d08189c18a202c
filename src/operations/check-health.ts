import { type ApplicationHealth, countUndelivered, isStuck, readApplicationHealth } from '#counting';
import { database } from '#db';
import { logWarning } from '#lib/log';
import { listParked } from '#rollup';
import { type ApplicationRow, listApplications } from '#teams';
import type { Health } from './operations.ts';

/** The largest number of counters that one request asks. Further applications are left out. */
const MAX_COUNTERS = 500;
const MAX_APPLICATIONS = 200;

/** A team's first applications whose counters together stay within the limit. */
function withinReach(applications: readonly ApplicationRow[]): ApplicationRow[] {
  let counters = 0;
  return applications.slice(0, MAX_APPLICATIONS).filter(({ shards }) => {
    counters += shards;
    return counters <= MAX_COUNTERS;
  });
}

/**
 * The health of a team's event processing: `degraded` if counting or the export is stuck somewhere, or messages are parked. Does not trigger
 * counting, and asks a bounded number of counters. Throws if the database does not respond, which the caller sees as a 500.
 */
export async function checkHealth(env: Env, teamId: string, now: number): Promise<Health> {
  const startedAt = Date.now();
  const db = database(env.DB);
  const [listed, parked, filed] = await Promise.all([
    listApplications(db, teamId, { limit: MAX_APPLICATIONS + 1, cursor: '' }),
    listParked(db, teamId, { limit: 1 }),
    readFiled(env.RAW_EVENTS),
  ]);
  const databaseMs = Date.now() - startedAt;
  const asked = withinReach(listed);
  const healths = await Promise.all(asked.map((application) => readApplicationHealth(env, application)));
  const applications = healths.map((health) => showHealth(health, now));
  const filedMessages = filed && listed.reduce((sum, { id }) => sum + (filed.get(id) ?? 0), 0);
  const isAnyDegraded =
    parked.total > 0 || filedMessages !== 0 || applications.some(({ status }) => status === 'degraded');
  const slowest = applications.flatMap((own) => own.slowest_delivery_ms ?? []);
  return {
    status: isAnyDegraded ? 'degraded' : 'ok',
    database_ms: databaseMs,
    pending_events: applications.reduce((sum, own) => sum + (own.pending_events ?? 0), 0),
    pending_for_ms: Math.max(0, ...applications.map((own) => own.pending_for_ms ?? 0)),
    slowest_delivery_ms: slowest.length === 0 ? null : Math.max(...slowest),
    parked_messages: parked.total,
    filed_messages: filedMessages,
    applications,
    is_complete: asked.length === listed.length,
  };
}

/** Filed messages by application; null if R2 does not respond. */
async function readFiled(bucket: Env['RAW_EVENTS']): Promise<Map<string, number> | null> {
  try {
    return await countUndelivered(bucket);
  } catch (error) {
    logWarning('no count of filed messages', error);
    return null;
  }
}

/** Raw events that R2 does not accept are safe in the log, but fill it. */
const isDegraded = (health: ApplicationHealth, now: number) =>
  isStuck(health, now) || health.counters?.exportError != null || health.counters?.hasGap === true;

function showHealth(health: ApplicationHealth, now: number): Health['applications'][number] {
  const { applicationId, counters, backlog } = health;
  const oldestAt = Math.min(counters?.oldestPendingAt ?? now, backlog.oldestAt ?? now);
  return {
    application_id: applicationId,
    status: isDegraded(health, now) ? 'degraded' : 'ok',
    pending_events: counters?.pending ?? null,
    pending_for_ms: counters ? Math.max(0, now - oldestAt) : null,
    delayed_events: backlog.events,
    append_error: counters?.appendError ?? null,
    counted_through: counters ? new Date(counters.countedThrough).toISOString() : null,
    slowest_delivery_ms: counters?.slowestMs ?? null,
    unwritten_parts: counters?.outbox ?? null,
    write_error: counters?.flushError ?? null,
    needs_resume: counters?.hasGap ?? null,
    unexported_events: counters?.hotEvents ?? null,
    export_error: counters?.exportError ?? null,
  };
}
