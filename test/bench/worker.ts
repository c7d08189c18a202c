import { Hono } from 'hono';
import { uuidv7obj } from 'uuidv7';
import { createApp } from '../../src/app.ts';
import { consumeEvents } from '../../src/counting/consume.ts';
import { addDays } from '../../src/lib/time.ts';
import { saveRates } from '../../src/money/exchange-rates.ts';
import { PerformanceQuery, reportPerformance } from '../../src/reports/performance.ts';
import { foldLog } from '../../src/rollup/fold.ts';
import { unlimited } from '../helpers/limits.ts';
import { APPLICATION_ID, type BenchDevice, CREATIVE_IDS, makeDevices, makeEvents } from './workload.ts';

// A bundle has to export what wrangler.toml binds.
export { CreativeRegistry } from '../../src/creatives/index.ts';

// The Workers of the benchmark, one script: which of them it is says the variable ROLE.

type BenchEnv = Env & { ROLE: keyof typeof ROLES };

// A log line is made as ever, but not handed to the local simulation, which parses each in the process that also makes the load.
console.log = () => undefined;

/** A queue that takes everything at once: what is left is our own work. */
const instantQueue = { send: async () => undefined, sendBatch: async () => undefined };

const service = createApp();
const bare = new Hono<{ Bindings: BenchEnv }>().post('/webhook', async (c) => {
  const body: Record<string, unknown> = await c.req.json();
  return c.json({ success: true, type: body.type });
});
const enqueueOnly = new Hono<{ Bindings: BenchEnv }>().post('/webhook', async (c) => {
  await c.env.EVENTS.send(await c.req.json());
  return c.json({ success: true });
});

/** Counts the statements that D1 is asked to run, and adds up the rows that it says it has written. */
class Meter {
  statements = 0;
  rowsWritten = 0;
  readonly binding: D1Database;

  constructor(db: D1Database) {
    const metered = (target: D1Database | D1DatabaseSession): D1Database =>
      new Proxy(target as D1Database, {
        get: (_, name) => {
          if (name === 'withSession') return () => metered(db.withSession());
          if (name === 'prepare') return (sql: string) => this.prepare(target, sql);
          if (name === 'batch') return (statements: D1PreparedStatement[]) => this.batch(target, statements);
          return Reflect.get(target, name);
        },
      });
    this.binding = metered(db);
  }

  private prepare(db: D1Database | D1DatabaseSession, sql: string): D1PreparedStatement {
    this.statements++;
    return db.prepare(sql);
  }

  private async batch(
    db: D1Database | D1DatabaseSession,
    statements: D1PreparedStatement[],
  ): Promise<D1Result[]> {
    const results = await db.batch(statements);
    for (const { meta } of results) this.rowsWritten += meta.rows_written;
    return results;
  }
}

let devices: BenchDevice[] | null = null;
const benchDevices = () => {
  devices ??= makeDevices(1);
  return devices;
};

/** One row a device, as `/fetch-token` makes them and the fold of its install leaves them. */
async function insertDevices(db: D1Database): Promise<void> {
  const rows = benchDevices();
  for (let start = 0; start < rows.length; start += 2_000) {
    const part = rows
      .slice(start, start + 2_000)
      .map(({ id, acquiredDay, creativeId }) => [id, acquiredDay, creativeId]);
    await db
      .prepare(
        `INSERT INTO devices (application_id, acquired_day, id, acquired_at, creative_id, device_name, device_model,
           os_system, timezone, active_days, active_ages, milestones)
         SELECT ?2, value ->> 1, value ->> 0, 0, value ->> 2, 'd', 'm', 'o', 'UTC', '0', '0',
           '{"install":1}' FROM json_each(?1)`,
      )
      .bind(JSON.stringify(part), APPLICATION_ID)
      .run();
  }
  const insert = (table: string, columns: string, values: string) =>
    db
      .prepare(
        `INSERT INTO ${table} (${columns}, application_id, created_at) SELECT ${values}, ?2, 0 FROM json_each(?1)`,
      )
      .bind(JSON.stringify(CREATIVE_IDS), APPLICATION_ID);
  await db.batch([
    insert('campaigns', 'id, name', "'cmp_' || value, value"),
    insert('adsets', 'id, campaign_id, name', "'ads_' || value, 'cmp_' || value, value"),
    insert('creatives', 'id, adset_id, name, token', "value, 'ads_' || value, value, value"),
  ]);
}

/** A cost, without which no ROAS is computed, and a reference rate of every currency and day. */
async function insertSpend(db: D1Database): Promise<void> {
  await db
    .prepare(
      `INSERT INTO costs (application_id, day, campaign, currency, amount, updated_at)
       VALUES (?, '2026-02-10', 'campaign', 'usd', 1000000000, 0)`,
    )
    .bind(APPLICATION_ID)
    .run();
  const rates = Array.from({ length: 60 }, (_, index) =>
    ['usd', 'gbp', 'jpy', 'brl'].map((currency) => ({
      currency,
      base: 'eur',
      day: addDays('2026-01-01', index),
      units: '1',
      worth: `0.9${index}`,
    })),
  );
  await saveRates(db, '', rates.flat(), 0);
}

type Consumed = { events: number; messages: number; milliseconds: number; rowsWritten: number };

/** Feeds the consumer `events` events, `perMessage` to a message and 100 messages to a batch, as the queue would. */
async function consume(
  env: BenchEnv,
  events: number,
  perMessage: number,
  days: number,
  seed: number,
): Promise<Consumed> {
  const meter = new Meter(env.DB);
  const metered = { ...env, DB: meter.binding };
  const stream = makeEvents(seed, benchDevices(), days, () => `evt_${uuidv7obj().toHex()}`);
  let [messages, milliseconds] = [0, 0];
  for (let made = 0; made < events; ) {
    const batch: Message[] = [];
    while (batch.length < 100 && made < events) {
      const size = Math.min(perMessage, events - made);
      const body = { v: 1, events: Array.from({ length: size }, () => stream.next().value) };
      made += size;
      batch.push({
        id: `m${messages++}`,
        timestamp: new Date(),
        attempts: 1,
        body,
        ack: () => undefined,
        retry: () => undefined,
      } as Message);
    }
    const startedAt = performance.now();
    await consumeEvents({ queue: 'attribution-events', messages: batch } as unknown as MessageBatch, metered);
    milliseconds += performance.now() - startedAt;
  }
  const startedAt = performance.now();
  await foldLog(metered.DB, Date.now());
  milliseconds += performance.now() - startedAt;
  return { events, messages, milliseconds, rowsWritten: meter.rowsWritten };
}

const REPORTS = 5;

const control = new Hono<{ Bindings: BenchEnv }>()
  .post('/devices', async (c) => {
    await insertDevices(c.env.DB);
    return c.json({ devices: benchDevices().length });
  })
  .post('/consume', async (c) => {
    const { events, per_message, days, seed } = c.req.query();
    return c.json(await consume(c.env, Number(events), Number(per_message), Number(days), Number(seed)));
  })
  .post('/spend', async (c) => {
    await insertSpend(c.env.DB);
    return c.json({ success: true });
  })
  .get('/report', async (c) => {
    const query = PerformanceQuery.parse({
      application_id: APPLICATION_ID,
      from: '2026-01-31',
      to: '2026-03-01',
      group_by: 'day,creative',
    });
    const application = { id: APPLICATION_ID, teamId: 'team_1', currency: 'usd', timezone: 'UTC', shards: 1 };
    // Several in a row, because the clock of a Worker knows whole milliseconds only.
    const startedAt = performance.now();
    for (let index = 0; index < REPORTS; index++)
      await reportPerformance(c.env.DB, application, query, Date.now());
    return c.json({ milliseconds: (performance.now() - startedAt) / REPORTS });
  });

const ROLES = {
  service,
  'service-without-queue': service,
  'enqueue-only': enqueueOnly,
  bare,
  control,
};

let prepared: { bindings: BenchEnv; meter: Meter } | null = null;

/** The bindings as a role has them, with a database that is watched: once an isolate, as a deployment's are. */
function prepare(env: BenchEnv): { bindings: BenchEnv; meter: Meter } {
  if (prepared) return prepared;
  const meter = new Meter(env.DB);
  const queue = env.ROLE === 'service-without-queue' ? { EVENTS: instantQueue as unknown as Queue } : {};
  prepared = { bindings: { ...env, ...unlimited, ...queue, DB: meter.binding }, meter };
  return prepared;
}

export default {
  fetch: (request: Request, env: BenchEnv, ctx: ExecutionContext) => {
    const { bindings, meter } = prepare(env);
    if (request.url.endsWith('/d1-statements')) return Response.json({ statements: meter.statements });
    return ROLES[env.ROLE].fetch(request, bindings, ctx);
  },
  queue: () => undefined,
};
