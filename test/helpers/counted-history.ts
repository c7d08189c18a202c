import { createExecutionContext, createMessageBatch, getQueueResult } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect } from 'vitest';
import { consumeEvents } from '#counting';
import { signToken } from '#devices';
import { newId } from '#lib/ids';
import { DAY_MS } from '#lib/time';
import { countRetention, countTotals, type Sent } from '../oracle/count.ts';
import { startCounter } from './counter.ts';
import { envelope } from './envelopes.ts';
import { pick, shuffled } from './random.ts';
import { settleAll } from './settle.ts';
import type { Tenant } from './tenant.ts';
import type { TestWorker } from './worker.ts';

// A generated history of one application, sent through the webhook and counted by its counters, and the independent count of it.

export type TestDevice = { device: string; acquiredDay: string; token: string };
export type TestMessage = { id: string; body: unknown };

export const DAY = (number: number) => `2026-03-${String(number).padStart(2, '0')}`;

/** Devices that live in a counter, with their tokens. */
export async function makeDevices(
  tenant: Tenant,
  random: () => number,
  count: number,
  shardOf: (index: number) => number = () => 0,
): Promise<TestDevice[]> {
  const devices: TestDevice[] = [];
  for (let index = 0; index < count; index++) {
    const acquiredDay = DAY(1 + Math.floor(random() * 5));
    const shard = shardOf(index);
    const created = await startCounter(tenant.application.id, shard).createDevice({
      acquiredDay,
      acquiredAt: Date.parse(`${acquiredDay}T10:00:00Z`),
      shards: shard + 1,
    });
    if (created.outcome === 'moved') throw new Error('a device without an alias can live anywhere');
    const token = await signToken(
      {
        tokenId: newId('tok'),
        applicationId: tenant.application.id,
        deviceId: created.device.id,
        creativeId: null,
        acquiredDay,
        shard,
        createdAt: Date.now(),
        expiresAt: Date.now() + DAY_MS,
      },
      env.TOKEN_SECRET,
    );
    devices.push({ device: `${index}`, acquiredDay, token });
  }
  return devices;
}

type Event = Sent & { header?: string; sent: unknown };

/** Any event of a device after its acquisition, with what makes it recognisable. */
function makeEvent(device: TestDevice, random: () => number, number: number): Event {
  const day = Number(device.acquiredDay.slice(-2)) + Math.floor(random() * 9);
  const time = { created_at: `${DAY(day)} ${String(11 + Math.floor(random() * 12))}:00:00` };
  const currency = pick(random, ['usd', 'usd', 'eur']);
  const value = Math.floor(random() * 1e10) / 1e9;
  const session = pick(random, [undefined, `s${Math.floor(random() * 4)}`]);
  const { token } = device;
  const [body, own] = pick<() => [Sent['body'], string | undefined]>(random, [
    () => [
      envelope.ad(token, time, { currency, value, source: pick(random, ['banner', 'native']) }),
      undefined,
    ],
    () => [envelope.ad(token, time, { currency, value }), undefined],
    () => [envelope.retention(token, time, { retentionDay: undefined, session_id: session }), undefined],
    () => [envelope.custom(token, time, { event_name: pick(random, ['level_1', 'level_2']) }), undefined],
    () => {
      const status = pick(random, ['completed', 'success', 'failed']);
      return [
        envelope.purchase(token, time, { currency, value, status, tr_id: `t${number}` }),
        `t/${status === 'failed'}/${number}`,
      ];
    },
  ])();
  const event = { device: device.device, acquiredDay: device.acquiredDay, body };
  const kind = random();
  if (kind < 0.25) return { ...event, identity: `e/${number}`, sent: { ...body, eid: `e${number}` } };
  if (kind < 0.5) return { ...event, identity: `h/${number}`, header: `h${number}`, sent: body };
  return { ...event, identity: own, sent: body };
}

/** Posts some 300 events, half of the recognisable ones twice, one at a time and in batches. Answers what was acknowledged. */
export async function postHistory(
  worker: TestWorker,
  tenant: Tenant,
  devices: TestDevice[],
  random: () => number,
  first = 0,
): Promise<Sent[]> {
  const journal: Sent[] = [];
  const made = Array.from({ length: 220 }, (_, number) =>
    makeEvent(pick(random, devices), random, first + number),
  );
  const repeats = made.filter(({ identity }) => identity !== undefined && random() < 0.5);
  const [single, batched]: [Event[], Event[]] = [[], []];
  for (const event of shuffled(random, [...made, ...repeats])) {
    (!event.header && random() < 0.4 ? batched : single).push(event);
  }
  for (const event of single) {
    const headers = event.header ? { 'Idempotency-Key': event.header } : {};
    expect((await worker.post(tenant, '/webhook', event.sent, headers)).status).toBe(200);
    journal.push(event);
  }
  for (let start = 0; start < batched.length; start += 20) {
    const part = batched.slice(start, start + 20);
    const answer = await worker.post(tenant, '/webhook/batch', { events: part.map(({ sent }) => sent) });
    expect(await answer.json()).toMatchObject({ accepted: part.length, rejected: 0 });
    journal.push(...part);
  }
  return journal;
}

/** Delivers messages to the counters as one batch; answers which were acked and which come back. */
export async function deliver(messages: TestMessage[], bindings: Env = env) {
  const batch = createMessageBatch(
    'attribution-events',
    messages.map((message) => ({ ...message, timestamp: new Date(), attempts: 1 })),
  );
  await consumeEvents(batch, bindings);
  return getQueueResult(batch, createExecutionContext());
}

/** Compares the reports with the independent count of what was acknowledged. */
export async function expectTotals(
  worker: TestWorker,
  tenant: Tenant,
  journal: Sent[],
  devices: TestDevice[],
  shards = 1,
): Promise<void> {
  await settleAll(tenant.application.id, shards);
  const query = `application_id=${tenant.application.id}&from=${DAY(1)}&to=${DAY(20)}`;
  const report: {
    data: { dau: number }[];
    totals: Record<string, number>;
    unconverted: { currency: string; amount: number }[];
  } = await (await worker.team(tenant, `/v1/reports/performance?${query}&group_by=day`)).json();
  const counted = countTotals(journal, devices);
  const { active_device_days, unconverted_eur, ad_revenue, purchase_revenue, ...totals } = counted;
  // Euros have no rate here, so they are left out.
  expect(report.totals).toMatchObject({ ...totals, ad_revenue, purchase_revenue });
  const byCurrency: { data: Record<string, unknown>[] } = await (
    await worker.team(tenant, `/v1/reports/performance?${query}&group_by=currency`)
  ).json();
  const dollars = byCurrency.data.find(({ currency }) => currency === 'usd');
  expect(dollars).toMatchObject({ ad_revenue, purchase_revenue });
  expect(report.data.reduce((sum, row) => sum + row.dau, 0)).toBe(active_device_days);
  expect(report.unconverted).toEqual([{ currency: 'eur', amount: unconverted_eur }]);
  const retention: {
    data: { days: Record<string, { eligible: number; active: number; rolling: number }> }[];
  } = await (await worker.team(tenant, `/v1/reports/retention?${query}&days=0,1,3,7`)).json();
  for (const day of [0, 1, 3, 7]) {
    expect(retention.data[0]?.days[day]).toMatchObject(countRetention(journal, devices, day));
  }
}
