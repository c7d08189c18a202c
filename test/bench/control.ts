import { Hono } from 'hono';
import { uuidv7obj } from 'uuidv7';
import type { LoggedEvent } from '../../src/catalogue/index.ts';
import { consumeEvents, counterName, type PackedBatch, packEvents } from '../../src/counting/index.ts';
import { versionOf } from '../../src/env.ts';
import { filePrefix } from '../../src/lake/index.ts';
import { saveSharedRates } from '../../src/money/exchange-rates.ts';
import { type EventLine, eventLine, eventText, messageHead } from '../../src/rollup/index.ts';
import { packMessages } from '../../src/rollup/message.ts';
import { ROLLUP_TABLES } from '../../src/rollup/tables.ts';
import type { BenchCounter } from './bench-counter.ts';
import { operationsOf } from './queue-meter.ts';
import { addTimings, type Timing, timed } from './stopwatch.ts';
import {
  ACQUISITION_DAYS,
  benchDay,
  CREATIVE_IDS,
  makeDevices,
  makeEvents,
  makeInstalls,
} from './workload.ts';
import { fillYear, type YearSize } from './year.ts';

// What the benchmark asks for over HTTP: devices, events through the consumer, runs, exports, and what all of it cost.

/** The queue's operations: each 64 KB of a message is one to write, one to read and one to delete. */
const MAX_BATCH_MESSAGES = 100;

let logLines = 0;
// A log line is made as ever, but not handed to the local simulation, which parses each in the process that also makes the load.
console.log = () => {
  logLines++;
};

const counterOf = (env: Env, applicationId: string) =>
  (env.COUNTERS as unknown as DurableObjectNamespace<BenchCounter>).getByName(counterName(applicationId, 0));

const devicesOf = new Map<string, ReturnType<typeof makeDevices>>();

async function insertCreatives(db: D1Database, applicationId: string): Promise<void> {
  const insert = (table: string, columns: string, values: string) =>
    db
      .prepare(
        `INSERT INTO ${table} (${columns}, application_id, created_at) SELECT ${values}, ?2, 0 FROM json_each(?1)`,
      )
      .bind(JSON.stringify(CREATIVE_IDS), applicationId);
  await db.batch([
    insert('campaigns', 'id, name', "'cmp_' || value, value"),
    insert('adsets', 'id, campaign_id, name', "'ads_' || value, 'cmp_' || value, value"),
    insert('creatives', 'id, adset_id, name, token', "value, 'ads_' || value, value, value"),
  ]);
}

/** A cost, without which no ROAS is computed, and a reference rate of every currency and day. */
async function insertSpend(db: D1Database, applicationId: string): Promise<void> {
  await db
    .prepare(
      `INSERT INTO costs (application_id, day, campaign, currency, amount, updated_at)
       VALUES (?, ?, 'campaign', 'usd', 1000000000000, 0)`,
    )
    .bind(applicationId, benchDay(19))
    .run();
  const rates = Array.from({ length: ACQUISITION_DAYS }, (_, index) =>
    ['usd', 'gbp', 'jpy', 'brl'].map((currency) => ({
      currency,
      base: 'eur',
      day: benchDay(ACQUISITION_DAYS - 1 - index),
      units: '1',
      worth: `0.9${index}`,
    })),
  );
  await saveSharedRates(db, 'reference', rates.flat(), 0);
}

export type Load = {
  applicationId: string;
  events: number;
  /** How many events a request brings; those of several requests share no message. */
  perRequest: number;
  /** How many requests' messages a batch of the queue holds. */
  requestsPerBatch: number;
  days: number;
  /** How many days before the workload's last these days end; 0 if absent. */
  age?: number;
  /** Instead of events, the installs of devices that were acquired between these ages. */
  installs?: { from: number; to: number };
  seed: number;
  /** How many consumers take batches at once. */
  consumers: number;
};
export type Consumed = {
  events: number;
  messages: number;
  batches: number;
  queueOperations: number;
  logLines: number;
} & Timing;

const toMessage = (body: unknown, id: number) =>
  ({
    id: `m${id}`,
    timestamp: new Date(),
    attempts: 1,
    body,
    ack: () => undefined,
    retry: () => {
      throw new Error('the consumer put a message off');
    },
  }) as unknown as Message;

const lineOf = (event: LoggedEvent): EventLine => eventLine(eventText(event));

/** Feeds the consumer as the queue would; the making of the events is not timed. */
async function consume(env: Env, load: Load): Promise<Consumed> {
  const devices = devicesOf.get(load.applicationId);
  if (!devices) throw new Error('the application has no devices');
  const id = () => `evt_${uuidv7obj().toHex()}`;
  const stream = load.installs
    ? makeInstalls(load.seed, devices, load.installs, id, load.applicationId)
    : makeEvents(load.seed, devices, load.days, id, load.applicationId, load.age);
  const head = messageHead(load.applicationId, versionOf(env), false);
  const before = logLines;
  let [made, messages, batches, queueOperations] = [0, 0, 0, 0];
  let timing: Timing = { milliseconds: 0, cpuMilliseconds: 0 };
  const nextBatch = (): Message[] => {
    const batch: Message[] = [];
    for (let request = 0; request < load.requestsPerBatch && made < load.events; request++) {
      const size = Math.min(load.perRequest, load.events - made);
      const events: LoggedEvent[] = Array.from({ length: size }, () => stream.next().value);
      made += size;
      for (const { body, bytes } of packMessages(head, events.map(lineOf))) {
        batch.push(toMessage(body, messages++));
        queueOperations += operationsOf(bytes);
      }
    }
    batches++;
    return batch;
  };
  while (made < load.events) {
    const parts = Array.from({ length: load.consumers }, nextBatch).filter((batch) => batch.length > 0);
    const taken = await timed(() =>
      Promise.all(
        parts.flatMap((batch) =>
          Array.from({ length: Math.ceil(batch.length / MAX_BATCH_MESSAGES) }, (_, index) =>
            consumeEvents(
              {
                queue: 'attribution-events',
                messages: batch.slice(index * MAX_BATCH_MESSAGES, (index + 1) * MAX_BATCH_MESSAGES),
              } as unknown as MessageBatch,
              env,
            ),
          ),
        ),
      ),
    );
    timing = addTimings(timing, taken);
  }
  return {
    events: made,
    messages,
    batches,
    queueOperations,
    logLines: logLines - before,
    ...timing,
  };
}

const EVENTS_PER_APPEND = 10_000;

/** Gives a counter packed events; what the consumer does before, and the making of the events, is not timed. */
async function append(env: Env, applicationId: string, total: number, seed: number, age: number) {
  const counter = counterOf(env, applicationId);
  const stream = makeEvents(
    seed,
    devicesOf.get(applicationId) ?? [],
    1,
    () => `evt_${uuidv7obj().toHex()}`,
    applicationId,
    age,
  );
  let timing: Timing = { milliseconds: 0, cpuMilliseconds: 0 };
  for (let done = 0; done < total; done += EVENTS_PER_APPEND) {
    const events = Array.from({ length: EVENTS_PER_APPEND }, () => stream.next().value);
    const packed = packEvents(applicationId, events);
    timing = addTimings(timing, await timed(async () => await counter.append(packed)));
  }
  return timing;
}

const EVENTS_PER_FEED = 1_000;
const prepared = new Map<string, PackedBatch[]>();

/** Makes packed events for `feed`, so that nothing is made while something else is timed. */
function prepare(applicationId: string, total: number, seed: number): void {
  const id = () => `evt_${uuidv7obj().toHex()}`;
  const stream = makeEvents(seed, devicesOf.get(applicationId) ?? [], 1, id, applicationId);
  const batches = Array.from({ length: Math.ceil(total / EVENTS_PER_FEED) }, () =>
    packEvents(
      applicationId,
      Array.from({ length: EVENTS_PER_FEED }, () => stream.next().value),
    ),
  );
  prepared.set(applicationId, batches);
}

/** Gives a counter the next of its prepared events. */
async function feed(env: Env, applicationId: string): Promise<{ isEmpty: boolean }> {
  const next = prepared.get(applicationId)?.pop();
  if (next) await counterOf(env, applicationId).append(next);
  return { isEmpty: !next };
}

/** How many raw event files an application has when all is exported, and their size. */
async function exportAll(env: Env, applicationId: string) {
  await counterOf(env, applicationId).exportAll();
  let [files, bytes]: [number, number] = [0, 0];
  for (let cursor: string | undefined; ; ) {
    const page = await env.RAW_EVENTS.list({
      prefix: filePrefix(applicationId),
      ...(cursor ? { cursor } : {}),
    });
    files += page.objects.length;
    bytes += page.objects.reduce((sum, { size }) => sum + size, 0);
    if (!page.truncated) return { files, bytes };
    cursor = page.cursor;
  }
}

/** Pages of a B-tree are about two thirds full. */
const BYTES_PER_STORED_BYTE = 1.5;

/** What the rows of a rollup table take, by the length of their values as text, which is more than they take as numbers. */
async function bytesOfRows(db: D1Database, table: string, applicationId: string): Promise<number> {
  const { results } = await db
    .prepare(`SELECT name FROM pragma_table_info('${table}')`)
    .all<{ name: string }>();
  const lengths = results.map(({ name }) => `length(CAST("${name}" AS BLOB))`).join(' + ');
  const row = await db
    .prepare(`SELECT coalesce(sum(${lengths}), 0) AS bytes FROM ${table} WHERE application_id = ?`)
    .bind(applicationId)
    .first<{ bytes: number }>();
  return (row?.bytes ?? 0) * BYTES_PER_STORED_BYTE;
}

const EVER = { from: '2000-01-01', to: '2100-01-01' };

export const control = new Hono<{ Bindings: Env }>()
  .post('/devices/:app/:count', async (c) => {
    const { app, count } = c.req.param();
    const oneSegment = c.req.query('segments') === 'one';
    devicesOf.set(app, makeDevices(1, Number(count), oneSegment));
    await counterOf(c.env, app).insertDevices(Number(count), oneSegment);
    return c.json({});
  })
  .post('/creatives/:app', async (c) => {
    await insertCreatives(c.env.DB, c.req.param('app'));
    return c.json({});
  })
  .post('/year/:app', async (c) => {
    await fillYear(c.env.DB, c.req.param('app'), await c.req.json<YearSize>());
    return c.json({});
  })
  .post('/consume', async (c) => c.json(await consume(c.env, await c.req.json<Load>())))
  .post('/append/:app/:events/:seed/:age?', async (c) => {
    const { app, events, seed, age = '0' } = c.req.param();
    return c.json(await append(c.env, app, Number(events), Number(seed), Number(age)));
  })
  .post('/prepare/:app/:events/:seed', (c) => {
    const { app, events, seed } = c.req.param();
    prepare(app, Number(events), Number(seed));
    return c.json({});
  })
  .post('/feed/:app', async (c) => c.json(await feed(c.env, c.req.param('app'))))
  .post('/count/:app', async (c) => c.json(await timed(() => counterOf(c.env, c.req.param('app')).count())))
  .post('/ring/:app', async (c) => c.json(await timed(() => counterOf(c.env, c.req.param('app')).ring())))
  .post('/settle/:app', async (c) => c.json(await counterOf(c.env, c.req.param('app')).settle()))
  .post('/forget/:app', async (c) => {
    await counterOf(c.env, c.req.param('app')).forget();
    return c.json({});
  })
  .post('/export/:app', async (c) => c.json(await exportAll(c.env, c.req.param('app'))))
  .post('/export-speed/:app', async (c) => {
    const counter = counterOf(c.env, c.req.param('app'));
    const { hotEvents } = await counter.health();
    return c.json({ hotEvents, ...(await timed(() => counter.exportAll())) });
  })
  .post('/spend/:app', async (c) => {
    await insertSpend(c.env.DB, c.req.param('app'));
    return c.json({});
  })
  .delete('/spend', async (c) => {
    await c.env.DB.batch([
      c.env.DB.prepare('DELETE FROM costs'),
      c.env.DB.prepare('DELETE FROM exchange_rates'),
    ]);
    return c.json({});
  })
  .get('/costs/:app', async (c) => {
    const { results, meta } = await c.env.DB.prepare(
      `SELECT coalesce(sum(bytes) FILTER (WHERE replaced_at IS NULL), 0) AS parts,
        coalesce(sum(bytes) FILTER (WHERE replaced_at IS NOT NULL), 0) AS replaced FROM cube_parts`,
    ).run<{ parts: number; replaced: number }>();
    const { parts = 0, replaced = 0 } = results[0] ?? {};
    // Parts that were replaced stay for ten minutes, which is longer than a run here.
    const d1 = { d1Bytes: meta.size_after - replaced, partBytes: parts };
    return c.json({ ...(await counterOf(c.env, c.req.param('app')).costs()), ...d1 });
  })
  .get('/growth/:app', async (c) => {
    const app = c.req.param('app');
    const places = await c.env.DB.prepare(
      'SELECT count(DISTINCT rollup || grain) AS places FROM cube_parts WHERE application_id = ?',
    )
      .bind(app)
      .first<{ places: number }>();
    let tableBytes = 0;
    for (const table of ROLLUP_TABLES) tableBytes += await bytesOfRows(c.env.DB, table, app);
    return c.json({ tableBytes, ...places });
  })
  .post('/client-totals/:app', async (c) =>
    c.json(await timed(async () => await counterOf(c.env, c.req.param('app')).clientTotals(EVER))),
  )
  .post('/funnel/:app', async (c) =>
    c.json(
      await timed(
        async () =>
          await counterOf(c.env, c.req.param('app')).funnel({
            cohort: EVER,
            filter: {},
            groupBy: null,
            steps: ['retention', 'ad', 'purchase'],
            windowSeconds: null,
            maxDurations: 1_000_000,
            maxGroups: 1,
          }),
      ),
    ),
  )
  .post('/erase/:app/:device', async (c) => {
    const { app, device } = c.req.param();
    const id = devicesOf.get(app)?.[Number(device)]?.id ?? '';
    return c.json(await timed(async () => await counterOf(c.env, app).eraseDevice(id)));
  });
