import { counterName, Counter as ServiceCounter } from '../../src/counting/index.ts';
import { database } from '../../src/db/index.ts';
import service from '../../src/index.ts';
import { createAccessToken, createApplication, createTeam } from '../../src/teams/index.ts';
import { unlimited } from '../helpers/limits.ts';
import { writeRawFiles } from './raw-files.ts';

export { CreativeRegistry, Destination, OutboundSender } from '../../src/index.ts';

// The service as it is deployed, which `write-stores.ts` stops at chosen points: events counted and exported, counted but not
// yet in D1, and not yet counted. A release keeps it with its stores as `worker.js.gz`.

const HOUR_MS = 3_600_000;
/** 0.2.0 asks for the cron, its successors for the time. */
const NIGHTLY = { cron: '20 2,3,4 * * *', scheduledTime: Date.UTC(2026, 2, 1, 2, 20) };

const refuse = (): never => {
  throw new Error('Network connection lost.');
};

export class Counter extends ServiceCounter {
  /** Counts nothing unless requested. */
  override waitMs = HOUR_MS;

  /** Moves what has been counted to R2. */
  async exportLog(): Promise<void> {
    this.ctx.storage.sql.exec(`UPDATE log SET appended_at = appended_at - ${HOUR_MS}`);
    await this.alarm();
  }

  /** Counts what waits, and leaves it in the outbox from now on. */
  async countWithoutDatabase(): Promise<void> {
    this.db = { prepare: refuse, batch: refuse } as unknown as D1Database;
    await this.settle();
  }
}

type Bindings = Omit<Env, 'COUNTERS'> & { COUNTERS: DurableObjectNamespace<Counter> };

const messages: unknown[] = [];

/** A queue that delivers a message before it acknowledges it. */
function immediateQueue(bindings: () => Env): Queue {
  const sendBatch = async (sent: Iterable<{ body: unknown }>) => {
    const bodies = [...sent].map(({ body }) => body);
    messages.push(...bodies);
    const batch = {
      queue: 'attribution-events',
      messages: bodies.map((body) => ({
        id: crypto.randomUUID(),
        timestamp: new Date(),
        attempts: 1,
        body,
        ack: () => undefined,
        retry: refuse,
      })),
    };
    await service.queue(batch as unknown as MessageBatch, bindings());
  };
  const send = (body: unknown) => sendBatch([{ body }]);
  const metrics = async () => ({ backlogCount: 0, backlogBytes: 0 });
  return { send, sendBatch, metrics } as unknown as Queue;
}

async function makeTenant(env: Bindings) {
  const db = database(env.DB);
  const now = Date.now();
  const team = await createTeam(db, 'Upgrade', now);
  const caller = { db, team, actor: 'upgrade', now };
  const { accessToken } = await createAccessToken(caller, 'upgrade', null);
  const { application, apiKey } = await createApplication(
    caller,
    { name: 'Upgrade' },
    env.KEY_ENCRYPTION_SECRET,
  );
  const counter = counterName(application.id, 0);
  return { applicationId: application.id, apiKey, teamToken: accessToken, counter };
}

async function readBucket(bucket: R2Bucket): Promise<Record<string, string>> {
  const { objects } = await bucket.list();
  const contents = await Promise.all(
    objects.map(async ({ key }) => {
      const object = await bucket.get(key);
      return [key, Buffer.from((await object?.arrayBuffer()) ?? []).toString('base64')] as const;
    }),
  );
  return Object.fromEntries(contents);
}

async function control(action: string, counterName: string | null, env: Bindings): Promise<unknown> {
  if (action === 'tenant') return makeTenant(env);
  if (action === 'messages') return messages;
  if (action === 'bucket') return readBucket(env.RAW_EVENTS);
  if (action === 'raw-files') return writeRawFiles();
  if (action === 'snapshot') return service.scheduled(NIGHTLY as ScheduledController, env);
  if (!counterName) throw new Error(`${action} needs a counter`);
  const counter = env.COUNTERS.getByName(counterName);
  if (action === 'settle') return counter.settle();
  if (action === 'export') return counter.exportLog();
  if (action === 'hold') return counter.countWithoutDatabase();
  throw new Error(`unknown action ${action}`);
}

export default {
  async fetch(request: Request, env: Bindings, ctx: ExecutionContext): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    const bindings: Env = { ...env, ...unlimited, EVENTS: immediateQueue(() => bindings) };
    if (!pathname.startsWith('/control/')) return service.fetch(request, bindings, ctx);
    const answer = await control(pathname.slice('/control/'.length), searchParams.get('counter'), env);
    return Response.json(answer ?? null);
  },
};
