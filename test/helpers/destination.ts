import { env } from 'cloudflare:workers';
import { eq } from 'drizzle-orm';
import type { Message } from '#alerts/notice';
import type { OutboundItem } from '#counting';
import { channels, database, notices } from '#db';
import { newId } from '#lib/ids';
import { eventOf, newDevice } from './counter.ts';
import { destinationObject, Receiver } from './receiver.ts';
import { createTenant, type Tenant } from './tenant.ts';
import { startWorker } from './worker.ts';

const worker = startWorker();

export type ShownDestination = {
  id: string;
  secret: string;
  enabled: boolean;
  off_reason: string | null;
  message?: string;
};
export type Delivery = {
  event_id: string;
  status: string;
  reason: string | null;
  next_attempt_at: string | null;
  attempts: { status: number | null; error: string | null; answer: string; request: { body: string } }[];
};

export async function call<Body>(tenant: Tenant, method: string, path: string, body?: unknown) {
  const answer = await worker.team(tenant, path, { method, body });
  return { status: answer.status, body: (await answer.json()) as Body };
}

/** A webhook of an application of its own, and its receiver. */
export async function setUp(more: object = {}) {
  const tenant = await createTenant();
  const { status, body } = await call<ShownDestination>(tenant, 'POST', '/v1/destinations', {
    application_id: tenant.application.id,
    kind: 'webhook',
    url: 'https://hooks.example.com/in',
    events: ['install', 'purchase', 'custom:level_1'],
    ...more,
  });
  if (status !== 201) throw new Error(body.message);
  const receiver = new Receiver();
  const object = destinationObject(body.id, receiver);
  const path = `/v1/destinations/${body.id}`;
  const deliveries = async (query = '') =>
    (await call<{ data: Delivery[] }>(tenant, 'GET', `${path}/deliveries?${query}`)).body.data;
  return { tenant, receiver, object, path, deliveries, id: body.id, secret: body.secret };
}

/** A purchase as a counter hands it over. */
export function item(applicationId: string, deviceId = newId('dev')): OutboundItem {
  const device = newDevice({ id: deviceId });
  const { osSystem, timezone, segment } = device.description;
  return {
    type: 'purchase',
    event: eventOf(applicationId, device, 'custom.purchase'),
    device: { osSystem, timezone, segment, attribution: {} },
  };
}

export const partOf = (items: readonly OutboundItem[]) => ({
  id: crypto.randomUUID(),
  payload: JSON.stringify({ events: items }),
});

/** Gives an application a channel. Returns what reads the messages for it. */
export async function watchNotices(applicationId: string): Promise<() => Promise<Message[]>> {
  const db = database(env.DB);
  const channelId = newId('chn');
  await db.insert(channels).values({
    ...{ id: channelId, applicationId, kind: 'mail', target: 'ann@example.com' },
    ...{ digest: 'never', nextDigestAt: 0, origin: 'https://dashboard.test', createdAt: 0 },
  });
  return async () =>
    (await db.select({ body: notices.body }).from(notices).where(eq(notices.channelId, channelId))).map(
      ({ body }) => JSON.parse(body),
    );
}
