import { type ApplicationHealth, readApplicationHealth } from '#counting';
import { database } from '#db';
import { listParked } from '#rollup';
import { type ApplicationRow, listApplications } from '#teams';
import { readDeployment } from './deployment.ts';
import type { Health } from './operations.ts';
import { findApplicationProblems, findDeploymentProblems } from './problems.ts';

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
 * The health of a team's event processing and of the deployment: `degraded` if anything has a problem, or messages are parked. Does not
 * trigger counting, and asks a bounded number of counters. Throws if the database does not respond, which the caller sees as a 500.
 */
export async function checkHealth(env: Env, teamId: string, now: number): Promise<Health> {
  const startedAt = Date.now();
  const db = database(env.DB);
  const [listed, parked, deployment] = await Promise.all([
    listApplications(db, teamId, { limit: MAX_APPLICATIONS + 1, cursor: '' }),
    listParked(db, teamId, { limit: 1 }),
    readDeployment(env),
  ]);
  const databaseMs = Date.now() - startedAt;
  const asked = withinReach(listed);
  const { filed } = deployment;
  const healths = await Promise.all(asked.map((application) => readApplicationHealth(env, application)));
  const applications = healths.map((health) =>
    showHealth(health, filed?.get(health.applicationId) ?? 0, now),
  );
  const problems = findDeploymentProblems(deployment, now);
  const isAnyDegraded =
    problems.length > 0 || parked.total > 0 || applications.some(({ status }) => status === 'degraded');
  const slowest = applications.flatMap((own) => own.slowest_delivery_ms ?? []);
  return {
    status: isAnyDegraded ? 'degraded' : 'ok',
    problems,
    database_ms: databaseMs,
    database_bytes: deployment.databaseBytes,
    scheduled_at: deployment.chores && new Date(deployment.chores.ranAt).toISOString(),
    pending_events: applications.reduce((sum, own) => sum + (own.pending_events ?? 0), 0),
    pending_for_ms: Math.max(0, ...applications.map((own) => own.pending_for_ms ?? 0)),
    slowest_delivery_ms: slowest.length === 0 ? null : Math.max(...slowest),
    parked_messages: parked.total,
    filed_messages: filed && listed.reduce((sum, { id }) => sum + (filed.get(id) ?? 0), 0),
    applications,
    is_complete: asked.length === listed.length,
  };
}

function showHealth(health: ApplicationHealth, filed: number, now: number): Health['applications'][number] {
  const { applicationId, counters, backlog } = health;
  const oldestAt = Math.min(counters?.oldestPendingAt ?? now, backlog.oldestAt ?? now);
  const problems = findApplicationProblems(health, filed, now);
  return {
    application_id: applicationId,
    status: problems.length > 0 ? 'degraded' : 'ok',
    problems,
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
    largest_counter_bytes: counters?.bytes ?? null,
  };
}
