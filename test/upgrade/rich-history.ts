import { call } from './release.ts';

// A history with something of everything that a release stores, sent through its API.

const DAY_MS = 86_400_000;
export const dayAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);

type Tenant = { applicationId: string; apiKey: string; teamToken: string; counter: string };

/** Whose history it is. `devices`: their tokens. `ids`: what the API's paths can name, by the part of the path before it. */
export type SentHistory = Tenant & { devices: string[]; destination: string; ids: Record<string, string> };

/** How many events the destination gets of a device's share of the history, its install aside. */
export const SENT_ON = 4;

/** Calls a service with the credentials of a tenant. */
export function clientOf(address: URL, { apiKey, teamToken }: Pick<Tenant, 'apiKey' | 'teamToken'>) {
  const send =
    (headers: Record<string, string>) =>
    <Answer>(method: string, path: string, body?: unknown) =>
      call<Answer>(new URL(path, address), {
        method,
        headers: { 'Content-Type': 'application/json', ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
  const control = <Answer>(action: string, counter = '') =>
    call<Answer>(new URL(`/control/${action}?counter=${counter}`, address));
  return { ingest: send({ 'service-api-key': apiKey }), team: send({ 'Service-Token': teamToken }), control };
}

type Client = ReturnType<typeof clientOf>;

/** An Android phone or an iPhone, which gets its token as an SDK does. */
export async function acquire({ ingest }: Client, index: number, more: Record<string, unknown> = {}) {
  const isApple = index % 2 === 1;
  const { token } = await ingest<{ token: string }>('POST', '/fetch-token', {
    type: 'device-metrics',
    created_at: `${dayAgo(4 - (index % 3))}T0${index % 9}:10:00.000Z`,
    app_version: `1.${index % 3}`,
    data: {
      device_name: isApple ? 'iPhone' : 'Pixel',
      device_model: isApple ? 'iPhone17,1' : 'Pixel 9',
      os_system: isApple ? 'iOS 26.0' : 'Android 16',
      timezone: 'Europe/Berlin',
      device_id: `device-${index}`,
      country: ['de', 'us', 'br'][index % 3],
      ...more,
    },
  });
  return token;
}

/** Events of every kind of one device; `part` makes their keys and amounts. */
export async function sendEvents({ ingest }: Client, token: string, part: number): Promise<void> {
  const own = {
    created_at: `${dayAgo(part % 2)} 00:0${part % 10}:00`,
    creativeToken: token,
    app_version: '2.0',
  };
  const purchase = {
    item_id: 'gold',
    value: 4.99 + part,
    currency: part % 2 ? 'eur' : 'usd',
    status: 'completed',
  };
  const key = `${token.slice(0, 40)}-${part}`;
  await ingest('POST', '/webhook/batch', {
    events: [
      { ...own, type: 'retention', payload: { retentionDay: 1, session_id: key } },
      {
        ...{ ...own, type: 'custom.ad', eid: `ad-${key}`, total_ad_value: 1.5, total_purchase_value: 9.5 },
        payload: { ad_id: 'main', source: 'banner', media_source: 'admob', value: 0.25, currency: 'usd' },
      },
      {
        ...own,
        type: 'custom',
        payload: { event_name: 'ad_request', params: { id: 'main', key: 'banner', value: 3 } },
      },
      { ...own, type: 'custom.purchase', payload: { ...purchase, tr_id: `tr-${key}` } },
      { ...own, type: 'custom.purchase', payload: { ...purchase, tr_id: `refunded-${key}` } },
    ],
  });
  await ingest('POST', '/webhook', { ...own, type: 'custom', payload: { event_name: 'level_up' } });
  await ingest('POST', '/webhook', {
    ...{ ...own, type: 'custom.purchase' },
    payload: { ...purchase, status: 'refunded', tr_id: `refunded-${key}` },
  });
}

/** A click on a link; the referrer that the store would give to the app. */
async function click(link: string, address: URL): Promise<string> {
  const { pathname } = new URL(link);
  const answer = await fetch(new URL(`${pathname}?gclid=abc`, address), {
    redirect: 'manual',
    headers: { 'User-Agent': 'Mozilla/5.0 (Linux; Android 16; Pixel 9) Chrome/140.0 Mobile' },
  });
  await answer.body?.cancel();
  return new URL(answer.headers.get('Location') ?? '').searchParams.get('referrer') ?? '';
}

export async function sendRichHistory(address: URL, receiver: string): Promise<SentHistory> {
  const tenant = await call<Tenant>(new URL('/control/tenant', address));
  const { applicationId, apiKey, counter } = tenant;
  const client = clientOf(address, tenant);
  const { team, control } = client;
  await team('PATCH', `/v1/applications/${applicationId}`, {
    android_store_url: 'https://play.google.com/store/apps/details?id=com.example.game',
    store_fee: 0.15,
  });
  const links: string[] = [];
  for (const creative of ['Cat', 'Dog']) {
    const body = { campaign: 'Spring', adset: 'Broad', creative, app_api_key: apiKey };
    const made = await team<{ creative: { tracking_link: string } }>('POST', '/v1/creatives', body);
    links.push(made.creative.tracking_link);
  }
  await team('PUT', '/v1/exchange-rates', { date: dayAgo(9), base: 'usd', rates: { eur: 1.25 } });
  await team('PUT', '/v1/costs', {
    application_id: applicationId,
    rows: [
      { date: dayAgo(2), campaign: 'Spring', adset: 'Broad', creative: 'Cat', currency: 'usd', amount: 20.5 },
      { date: dayAgo(3), campaign: 'Autumn', country: 'DE', os: 'ios', currency: 'eur', amount: 8 },
    ],
  });
  const note = await team<{ id: string }>('POST', '/v1/notes', {
    ...{ application_id: applicationId, day: dayAgo(1), text: 'Version 2.0' },
  });
  const alert = await team<{ id: string }>('POST', '/v1/alerts', {
    ...{ application_id: applicationId, kind: 'no_events', threshold: 5 },
  });
  const destination = await team<{ id: string }>('POST', '/v1/destinations', {
    ...{ application_id: applicationId, kind: 'webhook', url: receiver },
    events: ['install', 'ad', 'purchase', 'refund'],
  });
  const referrer = await click(links[0] ?? '', address);
  const devices: string[] = [];
  for (let index = 0; index < 6; index++) {
    const token = links[1]?.slice(links[1].lastIndexOf('/') + 1) ?? '';
    const credit = [{ install_referrer: referrer }, { creative_token: token }, {}][index % 3];
    devices.push(await acquire(client, index, credit));
  }
  // Exported, counted but not in D1, and not yet counted.
  for (const device of devices) await sendEvents(client, device, 0);
  await control('settle', counter);
  await control('export', counter);
  await control('snapshot');
  for (const device of devices) await sendEvents(client, device, 1);
  await control('hold', counter);
  for (const device of devices) await sendEvents(client, device, 2);
  const { data } = await team<{ data: { id: string; campaign_id: string; adset_id: string }[] }>(
    'GET',
    `/v1/creatives?application_id=${applicationId}`,
  );
  const [creative] = data;
  return {
    ...{ ...tenant, devices, destination: destination.id },
    ids: {
      ...{ applications: applicationId, devices: devices[0] ?? '', notes: note.id, alerts: alert.id },
      creatives: creative?.id ?? '',
    },
  };
}
