import { memoize } from '#lib/collections/memoize';
import { settleAll } from '../helpers/settle.ts';
import type { Tenant } from '../helpers/tenant.ts';
import { eventsIn, fetchToken, fetchTokenBatch, type TestWorker } from '../helpers/worker.ts';
import { isClickTooLate, playFields, playTimesOf } from './play-times.ts';

// A generated history, as a backend would send it, and what the naive computations need to know of it.

/** A small seeded generator (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export type Sent = {
  device: number;
  /** Which of the creatives brought the device; null for none. */
  creative: number | null;
  /** Day 0 and the day of the event on the calendar of the application. */
  acquired: string;
  day: string;
  at: number;
  type: 'install' | 'retention' | 'custom.purchase' | 'custom.ad' | 'custom';
  payload: Record<string, unknown>;
  /** The device's; empty if unknown. */
  country: string;
  os: string;
  /** The network that brought the device; empty for none. */
  network: string;
  /** Of the event, and of its device when it came: the versions of the application and of the SDK. */
  version: string;
  firstVersion: string;
  sdk: string;
  firstSdk: string;
  /** Of its device: its install is attributed, or was until it was excluded, to a click after the installation began. */
  doubted: boolean;
  /** Sent by a debug build: it counts nowhere. */
  test?: boolean;
};

type Logged = Record<string, unknown>;

/** What the log holds of an event beyond what this history sends of it through the API. */
const asLogged = ({ test, type, payload }: Sent): Logged => ({
  ...(test ? { test } : {}),
  ...(type === 'custom.purchase' ? { status: payload.status } : {}),
  ...(payload.session_start ? { session_start: true } : {}),
  ...(payload.session_end ? { session_end: true, session_seconds: payload.session_seconds } : {}),
});

// Creating a formatter takes longer than a thousand uses of it.
const dayIn = memoize(100, (zone: string) => new Intl.DateTimeFormat('sv-SE', { timeZone: zone }));

/** The calendar day in a zone, computed differently from the service. */
export const localDay = (zone: string, at: number) => dayIn(zone).format(at);

const HOUR = 3_600_000;

/** What devices say of where and on what they are, and what is to be made of it. */
const PLACES = [
  { data: { country: 'DE', timezone: 'America/New_York' }, country: 'DE' },
  { data: { timezone: 'Asia/Calcutta' }, country: 'IN' },
  { data: { country: 'BR' }, country: 'BR' },
  { data: { timezone: 'UTC' }, country: '' },
];
const SYSTEMS = [
  { data: { os_system: 'Android 15' }, os: 'android' },
  { data: { device_name: 'iOS', device_model: 'iPhone17,1', os_system: '18.1' }, os: 'ios' },
  { data: { device_name: 'PC', device_model: 'PC', os_system: 'Windows 11' }, os: 'windows' },
];
const VERSIONS = ['1.0', '1.1', '2.0'];
/** What is sent of the network, and what is to be made of it for a device that a creative brought. */
const NETWORKS = [
  { data: { network: 'Facebook Ads' }, network: 'meta' },
  { data: { network: 'tiktok' }, network: 'tiktok' },
  { data: {}, network: '' },
] as const;
const SDKS = ['7', '7.1', '8'] as const;
const NAMES = ['level_up', 'tutorial', 'ad_request'];

const TOTAL_FIELDS: Partial<Record<Sent['type'], string>> = {
  'custom.ad': 'total_ad_value',
  'custom.purchase': 'total_purchase_value',
};

/**
 * Gives purchases a transaction id, and refunds and their reversals that of a purchase of the device, whose currency they have: earlier or
 * later, several of one, of more than it was. Some refunds are of all of it, and some of a purchase that nobody reported. Some are of one of the
 * `foreign` currencies.
 */
function nameTransactions(events: readonly Sent[], device: number, foreign: readonly string[]): void {
  const purchases = events.filter(
    ({ payload: { status } }) => status === 'completed' || status === 'success',
  );
  for (const [index, { payload }] of purchases.entries()) payload.tr_id = `${device}/${index}`;
  const refunds = events.filter(({ payload }) => payload.status === 'refunded');
  for (const [index, { payload }] of refunds.entries()) {
    const purchase = purchases[(device + index) % (purchases.length + 1)];
    payload.tr_id = purchase?.payload.tr_id ?? 'unknown';
    payload.currency = purchase?.payload.currency ?? payload.currency;
    if (foreign.length > 0) payload.currency = foreign[(device + index) % foreign.length];
    else if (index % 3 === 0) payload.value = 0;
    if (index % 2 === 1) payload.status = 'refund_reversed';
  }
}

/**
 * Adds the running totals that a client keeps of what it earned. Some clients keep none, some leave them out at times, and some
 * know of revenue that never arrived.
 */
function claimTotals(events: readonly Sent[], device: number): void {
  if (device % 5 === 4) return;
  const totals = new Map<string, number>();
  for (const [index, { type, payload, test }] of events.entries()) {
    const field = TOTAL_FIELDS[type];
    if (!field) continue;
    const isEarned =
      !test && (type === 'custom.ad' || payload.status === 'completed' || payload.status === 'success');
    const total =
      (totals.get(field) ?? (device % 4 === 0 ? 1.5 : 0)) + (isEarned ? Number(payload.value) : 0);
    totals.set(field, total);
    if (index % 3 > 0) payload[field] = total;
  }
}

export type HistoryOptions = {
  seed: number;
  start: string;
  days: number;
  devices: number;
  zone: string;
  currencies: string[];
  /** Some refunds are of another currency than their purchase. */
  foreignRefunds?: boolean;
  creativeTokens: string[];
  /** The application counts installs that it doubts as organic. */
  excludesDoubted?: boolean;
};

/** What a history keeps for later: every seventh device, and every fifth event of the others. */
const LATE = { isDevice: (device: number) => device % 7 === 3, isEvent: (index: number) => index % 5 === 4 };

/**
 * Sends the history of `devices` devices, acquired from `start` within `days` days, through the public API; every hour of the
 * day occurs, so days of 23 and 25 hours do too. All of it is counted before this returns: a report waits two seconds for its
 * counters, and then does without what they have not counted.
 */
export async function sendHistory(
  worker: TestWorker,
  tenant: Tenant,
  options: HistoryOptions,
): Promise<Sent[]> {
  const { sent } = await startHistory(worker, tenant, options);
  return sent;
}

type PlannedDevice = {
  metrics: Parameters<typeof fetchTokenBatch>[2][number];
  install: Sent;
  now: Sent[];
  later: Sent[];
  send: (token: string, events: Sent[]) => Promise<void>;
  /** Registered together with others, as an import does it. */
  isBatched: boolean;
  isLate: boolean;
};

/**
 * Like `sendHistory`. With `keepsSome`, a part of it is sent only by `sendRest`, which adds it to `sent`: events arrive in another order
 * than that of their times.
 */
export async function startHistory(
  worker: TestWorker,
  tenant: Tenant,
  options: HistoryOptions & { keepsSome?: boolean },
): Promise<{ sent: Sent[]; sendRest: () => Promise<void> }> {
  const random = seeded(options.seed);
  const pick = <Item>(items: readonly Item[]) => items[Math.floor(random() * items.length)] as Item;
  const start = Date.parse(`${options.start}T00:00:00Z`);
  const sent: Sent[] = [];
  const kept: (() => Promise<void>)[] = [];
  const planned: PlannedDevice[] = [];
  for (let device = 0; device < options.devices; device++) {
    const acquiredAt = start + Math.floor(random() * options.days * 24) * HOUR + 1000 * device;
    const acquired = localDay(options.zone, acquiredAt);
    const turn = device % (options.creativeTokens.length + 1);
    const named = turn === 0 ? null : turn - 1;
    // Not drawn, so that the rest of a history stays the same.
    const play = playTimesOf(device);
    const doubted = named !== null && isClickTooLate(play);
    const creative = doubted && options.excludesDoubted ? null : named;
    const [place, system, firstVersion] = [pick(PLACES), pick(SYSTEMS), pick(VERSIONS)];
    const network = NETWORKS[device % NETWORKS.length] ?? NETWORKS[0];
    const firstSdk = SDKS[device % 2] ?? SDKS[0];
    const metrics = {
      created_at: new Date(acquiredAt).toISOString(),
      app_version: firstVersion,
      sdk_version: firstSdk,
      data: {
        ...network.data,
        ...place.data,
        ...system.data,
        ...playFields(play, acquiredAt),
        ...(named === null ? {} : { creative_token: options.creativeTokens[named] }),
      },
    };
    const own = {
      ...{ device, creative, acquired, country: place.country, os: system.os, firstVersion, firstSdk },
      network: creative === null ? '' : network.network,
      doubted,
    };
    // Every third device earns in one currency: running totals of several cannot be compared.
    const only = device % 3 === 0 ? options.currencies[(device / 3) % options.currencies.length] : undefined;
    const install: Sent = {
      ...{ ...own, version: firstVersion, sdk: firstSdk, day: acquired, at: acquiredAt },
      ...{ type: 'install', payload: {} },
    };
    const events = Array.from({ length: 3 + Math.floor(random() * 25) }, () => {
      const at =
        acquiredAt +
        Math.floor(random() ** 2 * options.days * 24) * HOUR +
        Math.floor(random() * 3600) * 1000;
      const currency = only ?? pick(options.currencies);
      // Ten places, as ad networks pay for an impression: more than an amount has.
      const value = Math.round((0.00001 + random()) * 1e10) / 1e10;
      const kind = random();
      const [type, payload] =
        kind < 0.5
          ? ([
              'custom.ad',
              {
                ad_id: pick(['main', 'shop']),
                source: pick(['banner', 'rewarded_video', 'interstitial']),
                ...(random() < 0.8 ? { media_source: pick(['admob', 'applovin', 'vungle']) } : {}),
                value,
                currency,
              },
            ] as const)
          : kind < 0.7
            ? ([
                'retention',
                {
                  ...(random() < 0.5 ? { session_id: `s${Math.floor(random() * 4)}` } : {}),
                  ...(random() < 0.3
                    ? {
                        session_end: true,
                        // Some clients don't know the length of a session.
                        ...(random() < 0.8 ? { session_seconds: Math.floor(random() * 600) } : {}),
                      }
                    : random() < 0.4
                      ? { session_start: true }
                      : {}),
                },
              ] as const)
            : kind < 0.8
              ? ([
                  'custom.purchase',
                  {
                    item_id: pick(['gems', 'pass']),
                    item_name: 'Thing',
                    value: value * 20,
                    currency,
                    status: pick([
                      'completed',
                      'success',
                      'completed',
                      'failed',
                      'refunded',
                      'refund_reversed',
                    ]),
                  },
                ] as const)
              : ([
                  'custom',
                  {
                    event_name: pick(NAMES),
                    params: {
                      id: 'main',
                      key: pick(['banner', 'rewarded_video']),
                      value: String(1 + Math.floor(random() * 4)),
                    },
                  },
                ] as const);
      return {
        ...own,
        version: random() < 0.5 ? firstVersion : pick(VERSIONS),
        sdk: (at / 1000) % 3 === 0 ? (SDKS[(at / 1000) % 7 === 0 ? 1 : 2] ?? firstSdk) : firstSdk,
        day: localDay(options.zone, at),
        at,
        type,
        payload,
        test: random() < 0.05,
      } satisfies Sent;
    });
    nameTransactions(events, device, options.foreignRefunds ? options.currencies : []);
    claimTotals(events, device);
    const isLate = (index: number) =>
      options.keepsSome === true && (LATE.isDevice(device) || LATE.isEvent(index));
    const send = async (token: string, own: Sent[]) => {
      if (own.length > 0) await sendEvents(worker, tenant, token, own);
      sent.push(...own);
    };
    const [now, later] = [events.filter((_, at) => !isLate(at)), events.filter((_, at) => isLate(at))];
    const isLateDevice = options.keepsSome === true && LATE.isDevice(device);
    planned.push({ metrics, install, now, later, send, isBatched: device % 4 === 1, isLate: isLateDevice });
  }
  const batched = planned.filter(({ isBatched, isLate }) => isBatched && !isLate);
  const tokens = await fetchTokenBatch(
    worker,
    tenant,
    batched.map(({ metrics }) => metrics),
  );
  const tokenOf = new Map(batched.map((device, index) => [device, tokens[index]]));
  for (const device of planned) {
    const { metrics, install, now, later, send, isLate } = device;
    const register = async () => {
      const token = tokenOf.get(device) ?? (await fetchToken(worker, tenant, metrics));
      sent.push(install);
      return token;
    };
    if (isLate) {
      kept.push(async () => send(await register(), later));
      continue;
    }
    const token = await register();
    await send(token, now);
    kept.push(() => send(token, later));
  }
  await settleAll(tenant.application.id);
  const sendRest = async () => {
    for (const send of kept.splice(0)) await send();
    await settleAll(tenant.application.id);
  };
  return { sent, sendRest };
}

/** Sends events of a device, and has them counted from the queue. */
async function sendEvents(
  worker: TestWorker,
  tenant: Tenant,
  token: string,
  events: readonly Sent[],
): Promise<void> {
  const answer = await worker.post(tenant, '/webhook/batch', {
    events: events.map(({ type, at, payload, version, firstVersion, sdk, firstSdk }) => ({
      type,
      // An event that names no version is of the one that its device came with.
      ...(version === firstVersion ? {} : { app_version: version }),
      ...(sdk === firstSdk ? {} : { sdk_version: sdk }),
      created_at: new Date(at).toISOString().slice(0, 19).replace('T', ' '),
      creativeToken: token,
      payload:
        type === 'custom' && payload.event_name !== 'ad_request'
          ? { event_name: payload.event_name }
          : payload,
    })),
  });
  const { rejected }: { rejected: number } = await answer.json();
  if (rejected > 0) throw new Error('the history was not taken whole');
  const logged = worker.queue.take().flatMap(({ body }) => eventsIn<Logged>(body));
  if (logged.length !== events.length) throw new Error('the queue has other events than were sent');
  for (const [index, event] of events.entries()) Object.assign(logged[index] ?? {}, asLogged(event));
  await worker.deliver([{ id: crypto.randomUUID(), body: { v: 1, events: logged } }]);
}
