import {
  type ApplicationHealth,
  readApplicationHealth,
  readQueues,
  type ShardedApplication,
} from '#counting';
import { database } from '#db';
import { readConnectorProblems } from './connector-problems.ts';
import { type Deployment, readDeployment } from './deployment.ts';
import { type DestinationsState, readDestinations } from './destination-health.ts';
import { findApplicationProblems, findDeploymentProblems } from './problems.ts';
import { readLosses } from './store-losses.ts';

/** The largest number of counters that one request asks. */
const MAX_COUNTERS = 500;
const MAX_APPLICATIONS = 200;

/**
 * `needsResume`: `resumeApplication` has something to bring back or to accept. `filed`: null if R2 does not respond. `destinations`: null if it
 * has none.
 */
export type InspectedApplication = {
  health: ApplicationHealth;
  needsResume: boolean;
  filed: number | null;
  destinations: DestinationsState | null;
  problems: string[];
};

/** `isComplete`: false if there are more applications than one request inspects. */
export type Inspection = {
  deployment: Deployment;
  problems: string[];
  applications: InspectedApplication[];
  isComplete: boolean;
};

/** The first applications whose counters together stay within the limit. */
function withinReach(applications: readonly ShardedApplication[]): ShardedApplication[] {
  let counters = 0;
  return applications.slice(0, MAX_APPLICATIONS).filter(({ shards }) => {
    counters += shards;
    return counters <= MAX_COUNTERS;
  });
}

/**
 * The state of a deployment and of the event processing of some applications, with what is wrong with either, in sentences. Does not trigger
 * counting. Throws if the database does not respond.
 */
export async function inspect(
  env: Env,
  applications: readonly ShardedApplication[],
  now: number,
): Promise<Inspection> {
  const asked = withinReach(applications);
  const queues = readQueues(env, now);
  const ids = asked.map(({ id }) => id);
  const [deployment, losses, connectors, destinations, healths] = await Promise.all([
    readDeployment(env, queues),
    readLosses(database(env.DB), ids),
    readConnectorProblems(database(env.DB), ids, now),
    readDestinations(env, ids, now),
    Promise.all(asked.map((application) => readApplicationHealth(env, application, queues))),
  ]);
  const inspected = healths.map((health): InspectedApplication => {
    const own = losses.get(health.applicationId) ?? [];
    const sent = destinations.get(health.applicationId) ?? null;
    const filed = deployment.filed && (deployment.filed.get(health.applicationId) ?? 0);
    return {
      health,
      needsResume: own.length > 0 || (health.counters?.hasGap ?? false),
      filed,
      destinations: sent,
      problems: [
        ...findApplicationProblems(health, { filed: filed ?? 0, losses: own }, now),
        ...(connectors.get(health.applicationId) ?? []),
        ...(sent?.problems ?? []),
      ],
    };
  });
  return {
    deployment,
    problems: findDeploymentProblems(deployment, now),
    applications: inspected,
    isComplete: asked.length === applications.length,
  };
}
