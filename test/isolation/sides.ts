import { env } from 'cloudflare:workers';
import { database } from '#db';
import type { EXAMPLE } from '#http';
import { addDays, dayIn } from '#lib/time';
import { createApplication } from '#teams';
import { ANDROID_AGENT, follow } from '../helpers/clicks.ts';
import { createCreative } from '../helpers/creatives.ts';
import { item, partOf } from '../helpers/destination.ts';
import { unlimited } from '../helpers/limits.ts';
import { parkMessage } from '../helpers/parked.ts';
import { type Browser, signedIn } from '../helpers/person.ts';
import { destinationObject, Receiver } from '../helpers/receiver.ts';
import { settleAll } from '../helpers/settle.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';
import { makePostback, store } from '../skan/postbacks.ts';

// Two of everything: applications with the same names, ids, days and keys of their own choice, and only their amounts and what the service
// mints are different. What one of them does must not change what another one sees.

export const METRICS_TOKEN = 'a-token-for-monitoring-0123456789abcdef';
export const worker = startWorker({ METRICS_TOKEN, ...unlimited } as Partial<Env>);

export const TODAY = dayIn('UTC', Date.now());
/** The period of every report, which has all that the history of a side has. */
export const [FROM, TO] = [addDays(TODAY, -30), TODAY];
/** The day on which the devices are acquired and do what they do. */
export const DAY = addDays(TODAY, -2);
const at = (time: string) => `${DAY}T${time}Z`;

/** What one side has: the real things in the place of those in the examples of endpoints, and more. */
export type Side = {
  tenant: Tenant;
  browser: Browser;
  receivers: Receiver[];
  /** By the name in `EXAMPLE`. */
  things: Record<Exclude<keyof typeof EXAMPLE, 'from' | 'to'>, string>;
  /** Other ids and secrets that only this side has. */
  more: {
    creatives: string[];
    links: string[];
    devices: string[];
    tokens: string[];
    connectors: string[];
    destinations: string[];
    events: string[];
    shared: string;
    oldKey: string;
  };
};

async function created<Body>(answer: Response, ...statuses: number[]): Promise<Body> {
  const text = await answer.text();
  if (!statuses.includes(answer.status)) throw new Error(`${answer.status}: ${text}`);
  return (text.startsWith('{') ? JSON.parse(text) : text) as Body;
}

/** Another application of the team. */
export async function addApplication(tenant: Tenant): Promise<Tenant> {
  const caller = { db: database(env.DB), team: tenant.team, actor: 'test', now: Date.now() };
  const { application, apiKey } = await createApplication(
    caller,
    { name: 'Test game' },
    env.KEY_ENCRYPTION_SECRET,
  );
  return { ...tenant, application, apiKey };
}

const envelopesOf = (units: number) => [
  {
    type: 'custom.purchase',
    payload: {
      ...{ item_id: 'gold', item_name: 'Gold', value: units, currency: 'usd', status: 'completed' },
      total_value: 2 * units,
      tr_id: 'same-transaction',
    },
  },
  {
    type: 'custom.ad',
    payload: {
      ...{ ad_id: 'main', source: 'banner', media_source: 'admob', value: units / 1_000, currency: 'usd' },
      total_ad_value: units,
    },
  },
  { type: 'custom', payload: { event_name: 'level_up', params: { value: '3' } } },
  { type: 'retention', payload: { retentionDay: '1', backfillDay: '0' } },
];

/** Gives an application one or two of everything. `units` makes its amounts its own; the App Store app has to be. */
export async function fillSide(
  tenant: Tenant,
  { units, appStoreId }: { units: number; appStoreId: string },
): Promise<Side> {
  const { application } = tenant;
  const application_id = application.id;
  const browser = await signedIn(worker, tenant.team, 'owner');
  const call = async <Body>(method: string, path: string, body?: unknown) =>
    created<Body>(
      await worker.team(tenant, path, { method, ...(body === undefined ? {} : { body }) }),
      ...[200, 201, 202, 204],
    );
  const path = `/v1/applications/${application_id}`;
  await call('PATCH', path, {
    ...{ android_store_url: 'https://play.google.com/store/apps/details?id=com.example.game' },
    ios_store_url: `https://apps.apple.com/app/id${appStoreId}`,
    ...{ impression_template: { preset: 'max' }, revenuecat_authorization: 'Bearer rc_0123456789abcdef' },
  });
  const creatives = [];
  for (const creative of ['Cat', 'Dog']) {
    const external_ids = [{ network: 'meta', id: creative === 'Cat' ? '771' : '772' }];
    const names = { creative, campaign: 'Spring', adset: 'Young', external_ids };
    creatives.push(await createCreative(worker, tenant, names));
  }
  const [cat, dog] = creatives;
  if (!cat || !dog) throw new Error('two creatives');
  const within = await call<{ campaign_id: string; adset_id: string }>('GET', `/v1/creatives/${cat.id}`);
  const { server_links } = await call<{ server_links: { click: string } }>(
    'GET',
    `/v1/creatives/${dog.id}/links`,
  );
  const { pathname, search } = new URL(server_links.click);
  await worker.request(
    `${pathname}${search}&id=same-click&time=${Date.parse(at('07:30:00'))}&ip=203.0.113.77`,
  );
  const click = await follow(worker, cat.path, ANDROID_AGENT);
  await worker.deliver([...click.messages, ...worker.queue.take()]);

  const devices = [
    { data: { device_id: 'player-1', creative_token: cat.token } },
    { data: { device_id: 'player-2', creative_token: dog.token } },
    { data: { device_id: 'player-3' } },
    { data: { device_id: 'tester' }, dev: true },
  ];
  const tokens: string[] = [];
  for (const device of devices) {
    tokens.push(await fetchToken(worker, tenant, { created_at: at('08:00:00'), ...device }));
  }
  const events: string[] = [];
  for (const [place, creativeToken] of tokens.entries()) {
    for (const [index, event] of envelopesOf(units * (place + 1)).entries()) {
      const payload = 'tr_id' in event.payload ? { ...event.payload, tr_id: `tr-${place}` } : event.payload;
      const answer = await worker.post(
        tenant,
        '/webhook',
        { ...event, created_at: `${DAY} 10:00:00`, creativeToken, payload },
        { 'Idempotency-Key': `same-key-${place}-${index}` },
      );
      events.push((await created<{ event_id: string }>(answer, 200)).event_id);
    }
  }
  const { intake_secret } = await call<{ intake_secret: string }>('POST', `${path}/intake-secret`, {});
  const impression = { id: 'same-impression', revenue: `${units / 100}`, device: 'player-1' };
  await created(await worker.request(`/impression/${intake_secret}?${new URLSearchParams(impression)}`), 200);
  await created(
    await worker.request(`/stores/revenuecat/${intake_secret}`, {
      method: 'POST',
      headers: { Authorization: 'Bearer rc_0123456789abcdef', 'Content-Type': 'application/json' },
      body: JSON.stringify(storeEvent('same-notification', 'player-2', 3 * units)),
    }),
    200,
  );
  await worker.deliver(worker.queue.take());
  await settleAll(application_id);

  await call('PUT', '/v1/costs', {
    application_id,
    rows: ['Cat', 'Dog'].map((creative) => ({
      ...{ date: DAY, campaign: 'Spring', adset: 'Young', creative, currency: 'usd', amount: 7 * units },
    })),
  });
  await call('PUT', '/v1/exchange-rates', { date: DAY, base: 'usd', rates: { eur: 1 + units / 100 } });
  const note = await call<{ id: string }>('POST', '/v1/notes', { application_id, day: DAY, text: 'Sale' });
  const alert = await call<{ id: string }>('POST', '/v1/alerts', {
    ...{ application_id, kind: 'no_events', threshold: 2 },
  });
  await call('PUT', `${path}/skan-schema`, SKAN_SCHEMA);
  for (const [place, fine] of [7, 8].entries()) {
    await store(makePostback({ appId: appStoreId, fine, sequence: place }));
  }
  const connectors: string[] = [];
  for (const account_id of ['17', '18']) {
    const { id } = await call<{ id: string }>('POST', '/v1/connectors', {
      ...{ application_id, kind: 'meta', settings: { account_id }, credentials: { access_token: 'a' } },
    });
    connectors.push(id);
  }
  const destinations: string[] = [];
  const receivers: Receiver[] = [];
  for (const host of ['one', 'two']) {
    const { id } = await call<{ id: string }>('POST', '/v1/destinations', {
      ...{ application_id, kind: 'webhook', events: ['install', 'purchase'] },
      url: `https://${host}.example.com/`,
    });
    const receiver = new Receiver();
    const object = destinationObject(id, receiver);
    await object.inside((own) => own.accept([partOf([item(application_id)])]));
    await object.work();
    destinations.push(id);
    receivers.push(receiver);
  }
  const app = `app=${application_id}&from=${FROM}&to=${TO}`;
  await browser.post('/views', { address: `/?${app}`, name: 'Same view' });
  const linked = await browser.submit('/views/links', { address: `/?${app}`, note: 'Same note', days: '30' });
  const [shared = ''] = /\/shared\/[\w-]{43}/.exec(await linked.text()) ?? [];
  await browser.post('/settings/members', { note: 'open', role: 'viewer' });
  await browser.post(`/alerts/channels?app=${application_id}`, {
    ...{ channel_kind: 'webhook', target: `https://hooks.example.com/same-hook-${units}`, digest: 'daily' },
  });
  const parked = await parkMessage(application_id);
  const discarded = await parkMessage(application_id);
  const retired = await call<{ id: string }>('POST', '/v1/applications', { name: 'Retired game' });
  const oldKey = tenant.apiKey;
  const { api_key } = await call<{ api_key: string }>('POST', `${path}/api-key`, { grace_hours: 24 });
  const { results } = await env.DB.prepare('SELECT device_id FROM tokens WHERE application_id = ?')
    .bind(application_id)
    .all<{ device_id: string }>();
  return {
    tenant: { ...tenant, apiKey: api_key },
    ...{ browser, receivers },
    things: {
      ...{ application: application_id, retiredApplication: retired.id, token: tokens[0] ?? '' },
      ...{ parked, discarded, event: events[0] ?? '', campaign: within.campaign_id, adset: within.adset_id },
      ...{ creative: cat.id, note: note.id, intakeSecret: intake_secret, connector: connectors[0] ?? '' },
      ...{ destination: destinations[0] ?? '', alert: alert.id, link: cat.token, click: click.publicId },
      apiKey: api_key,
    },
    more: {
      ...{ creatives: [cat.id, dog.id], links: [cat.token, dog.token], connectors, destinations, events },
      ...{ devices: results.map(({ device_id }) => device_id), tokens, shared, oldKey },
    },
  };
}

export const storeEvent = (id: string, customer: string, price: number) => ({
  api_version: '1.0',
  event: {
    ...{ id, type: 'INITIAL_PURCHASE', environment: 'PRODUCTION', period_type: 'NORMAL' },
    ...{ event_timestamp_ms: Date.parse(at('11:00:00')), purchased_at_ms: Date.parse(at('11:00:00')) },
    ...{ transaction_id: `store-${id}`, original_transaction_id: `store-${id}`, product_id: 'gold' },
    ...{ currency: 'USD', price, price_in_purchased_currency: price },
    ...{ app_user_id: customer, original_app_user_id: customer, aliases: [customer] },
  },
});

const SKAN_SCHEMA = {
  versions: [
    {
      ...{ valid_from: FROM, currency: 'usd' },
      fine: { '0': { event: 'install' }, '7': { event: 'purchase', revenue_min: 1, revenue_max: 2 } },
      coarse: {},
    },
  ],
};

export type Sides = Record<'ours' | 'sibling' | 'theirs', Side>;

/** The applications without anything: two of one team, and one of another. */
export async function createApplications() {
  const [theirs, ours] = [await createTenant(), await createTenant()];
  return { ours, sibling: await addApplication(ours), theirs };
}

const SIZES: Record<keyof Sides, { units: number; appStoreId: string }> = {
  ours: { units: 3, appStoreId: '111111111' },
  sibling: { units: 5, appStoreId: '222222222' },
  theirs: { units: 7, appStoreId: '333333333' },
};

/** Gives the same history to each, one after the other: `before` is called for each before it. */
export async function fillSides(
  tenants: Record<keyof Sides, Tenant>,
  between: (filled: Partial<Sides>) => Promise<void> = async () => undefined,
): Promise<Sides> {
  const sides: Partial<Sides> = {};
  for (const name of ['theirs', 'sibling', 'ours'] as const) {
    sides[name] = await fillSide(tenants[name], SIZES[name]);
    await between(sides);
  }
  return sides as Sides;
}

/** Every id and secret by which a side could be recognized. */
export function marksOf({ tenant, things, more }: Side): string[] {
  return [
    ...Object.values(things),
    ...Object.values(more).flat(),
    ...[tenant.team.id, tenant.teamToken],
  ].filter((mark) => mark !== '');
}
