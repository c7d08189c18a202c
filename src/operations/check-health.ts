import { database } from '#db';
import { listAbsentFields } from '#ingestion';
import { fromNanos } from '#lib/money';
import { iso, isoOrNull } from '#lib/time';
import { listParked } from '#rollup';
import { listApplications } from '#teams';
import type { Health } from './answers.ts';
import { messagesIn } from './deployment.ts';
import { type InspectedApplication, inspect } from './inspect.ts';
import { findParkedProblem } from './problems.ts';
import { runbookOf } from './runbooks.ts';

/** Further applications are left out. */
const MAX_APPLICATIONS = 200;

/**
 * The health of a team's event processing and of the deployment: `degraded` if anything has a problem, or messages are parked. Does not
 * trigger counting, and asks a bounded number of counters. Throws if the database does not respond, which the caller sees as a 500.
 */
export async function checkHealth(env: Env, teamId: string, now: number): Promise<Health> {
  const startedAt = Date.now();
  const db = database(env.DB);
  const [listed, parked] = await Promise.all([
    listApplications(db, teamId, { limit: MAX_APPLICATIONS + 1, cursor: '' }),
    listParked(db, teamId, { limit: 1 }),
  ]);
  const databaseMs = Date.now() - startedAt;
  const [{ deployment, problems, isComplete, ...inspected }, absent] = await Promise.all([
    inspect(env, listed, now),
    listAbsentFields(
      env.DB,
      listed.map(({ id }) => id),
    ),
  ]);
  const { filed, queues, runs } = deployment;
  const applications = inspected.applications.map((own) => ({
    ...showHealth(own, now),
    absent_fields: absent
      .filter(({ applicationId }) => applicationId === own.health.applicationId)
      .map(({ path, message, endpoint, count, lastAt }) => ({
        ...{ field: path, message, endpoint, count, last_at: iso(lastAt) },
      })),
  }));
  const all = [...problems, ...findParkedProblem(parked.total)];
  const isAnyDegraded = all.length > 0 || applications.some(({ status }) => status === 'degraded');
  const slowest = applications.flatMap((own) => own.slowest_delivery_ms ?? []);
  return {
    status: isAnyDegraded ? 'degraded' : 'ok',
    problems: all,
    runbooks: all.map(runbookOf),
    database_ms: databaseMs,
    database_bytes: deployment.databaseBytes,
    scheduled_at: isoOrNull(runs.chores?.ranAt ?? null),
    queued_messages: messagesIn(queues),
    pending_events: applications.reduce((sum, own) => sum + (own.pending_events ?? 0), 0),
    pending_for_ms: Math.max(0, ...applications.map((own) => own.pending_for_ms ?? 0)),
    slowest_delivery_ms: slowest.length === 0 ? null : Math.max(...slowest),
    parked_messages: parked.total,
    filed_messages: filed && listed.reduce((sum, { id }) => sum + (filed.get(id) ?? 0), 0),
    applications,
    is_complete: isComplete,
  };
}

const LOOKS_LIKE_MICROS = 'looks like micros';

const unitsOf = (nanos: number): number => fromNanos(BigInt(nanos));

function showHealth(
  { health, needsResume, problems }: InspectedApplication,
  now: number,
): Omit<Health['applications'][number], 'absent_fields'> {
  const { applicationId, counters, backlog } = health;
  const oldestAt = Math.min(counters?.oldestPendingAt ?? now, backlog.oldestAt ?? now);
  return {
    application_id: applicationId,
    status: problems.length > 0 ? 'degraded' : 'ok',
    problems,
    runbooks: problems.map(runbookOf),
    pending_events: counters?.pending ?? null,
    pending_for_ms: counters ? Math.max(0, now - oldestAt) : null,
    delayed_events: backlog.events,
    append_error: counters?.appendError ?? null,
    counted_through: counters && iso(counters.countedThrough),
    slowest_delivery_ms: counters?.slowestMs ?? null,
    unwritten_parts: counters?.outbox ?? null,
    write_error: counters?.flushError ?? null,
    needs_resume: counters === null && !needsResume ? null : needsResume,
    needs_restore: counters?.isLost ?? null,
    unknown_device_events: counters?.unknownEvents ?? null,
    unexported_events: counters?.hotEvents ?? null,
    export_error: counters?.exportError ?? null,
    implausible_amounts: (counters?.implausible ?? []).map(
      ({ of, currency, count, nanos, usualNanos, eventId, receivedAt }) => ({
        ...{ kind: of, currency, message: LOOKS_LIKE_MICROS, count, largest_value: unitsOf(nanos) },
        usual_value: usualNanos === null ? null : unitsOf(usualNanos),
        ...{ example_event_id: eventId, received_at: iso(receivedAt) },
      }),
    ),
    largest_counter_bytes: counters?.bytes ?? null,
  };
}
