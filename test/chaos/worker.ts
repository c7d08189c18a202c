import { database } from '../../src/db/index.ts';
import service from '../../src/index.ts';
import { createAccessToken, createApplication, createTeam } from '../../src/teams/index.ts';
import { unlimited } from '../helpers/limits.ts';
import { seededRandom } from '../helpers/random.ts';

export { CreativeRegistry } from '../../src/index.ts';

// The service as it is deployed, over a database that fails at random and a queue that the harness keeps. The harness delivers
// to the service's own queue handler under `/chaos/deliver`.

export type ChaosEnv = Env & { HARNESS_URL: string; CHAOS_SEED: string };
/** Shares of the calls that fail: of the database before and after they took effect, of the queue likewise. */
export type Faults = { before: number; after: number };
export type Delivery = { queue: string; messages: { id: string; body: unknown; attempts: number }[] };
export type Outcome = { acked: string[]; retried: string[] };

const TRANSIENT = [
  'D1_ERROR: Network connection lost',
  'D1_ERROR: D1 DB storage operation exceeded timeout which caused object to be reset',
  'D1_ERROR: D1 DB is overloaded. Requests queued for too long',
];

let faults: Faults = { before: 0, after: 0 };
let random: (() => number) | null = null;

/** Runs one call to the database, or fails before it, or after it without a word of whether it was kept. */
async function atRisk<Result>(env: ChaosEnv, work: () => Promise<Result>): Promise<Result> {
  random ??= seededRandom(Number(env.CHAOS_SEED));
  const dice = random();
  const error = new Error(TRANSIENT[Math.floor(random() * TRANSIENT.length)]);
  if (dice < faults.before) throw error;
  const result = await work();
  if (dice < faults.before + faults.after) throw error;
  return result;
}

function failingDatabase(env: ChaosEnv): D1Database {
  const originals = new WeakMap<object, D1PreparedStatement>();
  const failing = (statement: D1PreparedStatement): D1PreparedStatement => {
    const proxy: D1PreparedStatement = new Proxy(statement, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        if (name === 'bind') return (...bindings: unknown[]) => failing(target.bind(...bindings));
        return (...values: unknown[]) => atRisk(env, async () => Reflect.apply(value, target, values));
      },
    });
    originals.set(proxy, statement);
    return proxy;
  };
  const binding = {
    prepare: (sql: string) => failing(env.DB.prepare(sql)),
    batch: (statements: D1PreparedStatement[]) =>
      atRisk(env, () => env.DB.batch(statements.map((statement) => originals.get(statement) ?? statement))),
    withSession: () => binding,
  };
  return binding as unknown as D1Database;
}

/** The queue's side of a send is the harness; what it answers decides whether the service believes it was taken. */
function harnessQueue(env: ChaosEnv): Queue {
  const sendBatch = async (messages: Iterable<{ body: unknown }>) => {
    const body = JSON.stringify([...messages].map((message) => message.body));
    const answer = await fetch(env.HARNESS_URL, { method: 'POST', body });
    await answer.body?.cancel();
    if (!answer.ok) throw new Error('Queue send failed');
  };
  const send = (body: unknown) => sendBatch([{ body }]);
  return { send, sendBatch } as unknown as Queue;
}

async function deliver({ queue, messages }: Delivery, env: ChaosEnv): Promise<Outcome> {
  const outcome: Outcome = { acked: [], retried: [] };
  const batch = {
    queue,
    messages: messages.map((message) => ({
      ...message,
      timestamp: new Date(),
      ack: () => outcome.acked.push(message.id),
      retry: () => outcome.retried.push(message.id),
    })),
  };
  await service.queue(batch as unknown as MessageBatch, env);
  return outcome;
}

async function makeTenant(env: ChaosEnv) {
  const db = database(env.DB);
  const now = Date.now();
  const team = await createTeam(db, 'Chaos', now);
  const { accessToken } = await createAccessToken(db, team.id, 'chaos', null, now);
  const made = await createApplication(db, team.id, { name: 'Chaos' }, env.KEY_ENCRYPTION_SECRET, now);
  return { apiKey: made.apiKey, teamToken: accessToken, applicationId: made.application.id };
}

async function control(request: Request, path: string, env: ChaosEnv, real: ChaosEnv): Promise<Response> {
  if (path === '/chaos/tenant') return Response.json(await makeTenant(real));
  if (path === '/chaos/deliver') return Response.json(await deliver(await request.json(), env));
  if (path === '/chaos/minute') {
    await service.scheduled({ cron: '* * * * *' } as ScheduledController, env);
    return Response.json({});
  }
  if (path === '/chaos/faults') {
    faults = await request.json();
    return Response.json(faults);
  }
  return Response.json({}, { status: 404 });
}

let bindings: ChaosEnv | null = null;

export default {
  async fetch(request: Request, env: ChaosEnv, ctx: ExecutionContext) {
    bindings ??= { ...env, ...unlimited, DB: failingDatabase(env), EVENTS: harnessQueue(env) };
    const { pathname } = new URL(request.url);
    if (!pathname.startsWith('/chaos/')) return service.fetch(request, bindings, ctx);
    return control(request, pathname, bindings, env).catch((error) =>
      Response.json({ error: String(error) }, { status: 500 }),
    );
  },
};
