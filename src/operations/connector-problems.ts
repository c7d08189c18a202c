import { and, gte, lte, or } from 'drizzle-orm';
import { connectors, type Database, isAmong } from '#db';
import { DAY_MS } from '#lib/time';

/** A platform may fail for an hour or two. */
const FAILURES = 3;
/** From then on, there is time to get new credentials. */
const ENDING_MS = 7 * DAY_MS;

/** What is wrong with the connectors of some applications, in sentences, by application. */
export async function readConnectorProblems(
  db: Database,
  applicationIds: readonly string[],
  now: number,
): Promise<Map<string, string[]>> {
  const { applicationId, kind, failures, lastError, credentialsExpireAt } = connectors;
  const rows = await db
    .select({ applicationId, kind, failures, lastError, credentialsExpireAt })
    .from(connectors)
    .where(
      and(
        isAmong(applicationId, applicationIds),
        or(gte(failures, FAILURES), lte(credentialsExpireAt, now + ENDING_MS)),
      ),
    );
  const problems = new Map<string, string[]>();
  for (const row of rows) {
    const sentence =
      row.failures >= FAILURES
        ? `The connector ${row.kind} has failed ${row.failures} times in a row: ${row.lastError}`
        : `The credentials of the connector ${row.kind} end on ${new Date(row.credentialsExpireAt ?? now).toISOString().slice(0, 10)}.`;
    problems.set(row.applicationId, [...(problems.get(row.applicationId) ?? []), sentence]);
  }
  return problems;
}
