import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import type { LoggedEvent } from '#catalogue';
import { type Counter, counterOf, type NewDevice, packEvents } from '#counting';
import { newId } from '#lib/ids';
import { PIXEL } from './device-description.ts';

/** A counter of an application of its own, and what a test does with it. */
export function startCounter(applicationId = newId('app'), shard = 0) {
  const stub = () => counterOf(env, applicationId, shard);
  const createDevice = async (more: Partial<NewDevice> & { alias?: string; shards?: number } = {}) => {
    const { alias = null, shards = 1, ...device } = more;
    const wanted = newDevice(device);
    const [created] = await stub().createOrFindDevices(
      shards,
      [{ alias, device: wanted }],
      packEvents(applicationId, [installOf(applicationId, wanted, shard)]),
    );
    if (!created) throw new Error('The counter answers for each device');
    return created;
  };
  return {
    applicationId,
    shard,
    stub,
    append: (events: readonly LoggedEvent[]) => stub().append(packEvents(applicationId, events)),
    inside: <Result>(work: (counter: Counter, state: DurableObjectState) => Result | Promise<Result>) =>
      runInDurableObject(stub(), work),
    createDevice,
    /** Creates devices in a counter that knows of one shard. */
    createDevices: (count: number) =>
      Promise.all(
        Array.from({ length: count }, async () => {
          const created = await createDevice();
          if (created.outcome === 'moved') throw new Error('a new counter has one shard');
          return created.device;
        }),
      ),
  };
}

export type TestCounter = ReturnType<typeof startCounter>;

export const newDevice = (more: Partial<NewDevice> = {}): NewDevice => ({
  id: newId('dev'),
  acquiredDay: '2026-03-01',
  creativeId: null,
  acquiredAt: Date.parse('2026-03-01T10:00:00Z'),
  description: { ...PIXEL, timezone: 'Europe/Berlin' },
  attribution: '{}',
  ...more,
});

export const installOf = (applicationId: string, device: NewDevice, shard = 0): LoggedEvent => ({
  id: newId('evt'),
  application_id: applicationId,
  type: 'install',
  device_id: device.id,
  ...(shard === 0 ? {} : { shard }),
  creative_id: device.creativeId,
  acquired_day: device.acquiredDay,
  day: device.acquiredDay,
  occurred_at: device.acquiredAt,
  received_at: device.acquiredAt,
});

type Body<Type extends LoggedEvent['type']> = Partial<Extract<LoggedEvent, { type: Type }>>;

const PAYLOADS: {
  [Key in Exclude<LoggedEvent['type'], 'click' | 'impression' | 'mediation.ad' | 'store'>]: object;
} = {
  install: {},
  retention: { age: 1 },
  'custom.purchase': {
    item_id: 'gold',
    item_name: 'Gold',
    value_nanos: 4_990_000_000,
    currency: 'usd',
    status: 'completed',
  },
  'custom.ad': {
    ad_id: 'main',
    source: 'banner',
    media_source: 'admob',
    value_nanos: 2_000_000,
    currency: 'usd',
  },
  custom: { event_name: 'level_1' },
};

/** An event of a device on the day after its acquisition, to be varied. */
export function eventOf<
  Type extends Exclude<LoggedEvent['type'], 'click' | 'impression' | 'mediation.ad' | 'store'>,
>(
  applicationId: string,
  device: { id: string; acquiredDay: string; creativeId: string | null },
  type: Type,
  more: Body<Type> = {},
): LoggedEvent {
  const { day = '2026-03-02' } = more as { day?: string };
  const event = {
    id: newId('evt'),
    application_id: applicationId,
    device_id: device.id,
    creative_id: device.creativeId,
    acquired_day: device.acquiredDay,
    day,
    occurred_at: Date.parse(`${day}T12:00:00Z`),
    received_at: Date.parse(`${day}T12:00:01Z`),
    key_day: Math.floor(Date.parse(`${day}T12:00:00Z`) / 86_400_000),
    ...PAYLOADS[type],
    ...more,
    type,
  };
  return event as unknown as LoggedEvent;
}

/** The event of a click, to be varied. */
export const clickOf = (applicationId: string, more: Body<'click'> = {}): LoggedEvent => ({
  id: newId('evt'),
  application_id: applicationId,
  type: 'click',
  creative_id: newId('crt'),
  day: '2026-03-02',
  occurred_at: Date.now(),
  received_at: Date.now(),
  ...more,
});

/** The sums of an application's rollup rows. */
export async function rollupOf(applicationId: string) {
  const row = await env.DB.prepare(
    `SELECT coalesce(sum(installs), 0) AS installs, coalesce(sum(sessions), 0) AS sessions, coalesce(sum(impressions), 0) AS impressions,
       coalesce(sum(ad_revenue), 0) AS ad_revenue, coalesce(sum(purchases), 0) AS purchases, coalesce(sum(payers), 0) AS payers,
       coalesce(sum(purchase_revenue), 0) AS purchase_revenue, coalesce(sum(custom_events), 0) AS events,
       coalesce(sum(active_devices), 0) AS active_device_days
     FROM rollup_daily WHERE application_id = ?`,
  )
    .bind(applicationId)
    .first<Record<string, number>>();
  return row ?? {};
}
