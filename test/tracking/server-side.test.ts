import { evictDurableObject, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { beforeAll, describe, expect, it } from 'vitest';
import { counterOf } from '#counting';
import { DAY_MS } from '#lib/time';
import { SeenIds } from '../../src/counting/seen-ids.ts';
import { openStore } from '../../src/counting/store.ts';
import { pruneRepeats } from '../../src/counting/upkeep.ts';
import { ANDROID_AGENT, ANDROID_METRICS, STORES } from '../helpers/clicks.ts';
import { createCreative } from '../helpers/creatives.ts';
import { pageOf } from '../helpers/page.ts';
import { signedIn } from '../helpers/person.ts';
import { settleAll } from '../helpers/settle.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

// Clicks and impressions that a network's server reports, and what follows from them.

const worker = startWorker();
const IP = '203.0.113.44';
const SERVER = { 'User-Agent': 'network/1.0', 'cf-connecting-ip': '198.51.100.1' };
const DEVICE = { ...ANDROID_METRICS, ip: IP };

type Links = { click: string; impression: string };
let tenant: Tenant;
let creativeId: string;
let links: Links;

async function newLink(settings: Record<string, unknown> = {}) {
  const own = await createTenant({ ...STORES, ...settings });
  const { id } = await createCreative(worker, own);
  const answer = await worker.team(own, `/v1/creatives/${id}/links`);
  const { server_links } = await answer.json<{ server_links: Links }>();
  return { tenant: own, id, links: server_links };
}

beforeAll(async () => {
  ({ tenant, id: creativeId, links } = await newLink());
});

const pathOf = (link: string, parameters: Record<string, string>) => {
  const { pathname, search } = new URL(link);
  return `${pathname}${search}&${new URLSearchParams(parameters)}`;
};

async function report(link: string, parameters: Record<string, string> = {}, method = 'GET') {
  const answer = await worker.request(pathOf(link, parameters), {
    method,
    headers: SERVER,
    redirect: 'manual',
  });
  const messages = worker.queue.take();
  return { status: answer.status, body: await answer.json<Record<string, unknown>>(), messages };
}

async function reported(link: string, parameters: Record<string, string> = {}) {
  const { status, body, messages } = await report(link, { ip: IP, ua: ANDROID_AGENT, ...parameters });
  expect([status, body.counted]).toEqual([200, true]);
  await worker.deliver(messages);
  return String(body.id);
}

async function explained(own: Tenant, data: Record<string, unknown> = DEVICE) {
  const token = await fetchToken(worker, own, { data });
  const answer = await worker.team(own, `/v1/devices/${token}/attribution`);
  return answer.json<Record<string, unknown> & { device_id: string }>();
}

async function totals(own: Tenant, query = '') {
  await settleAll(own.application.id);
  const day = new Date().toISOString().slice(0, 10);
  const from = new Date(Date.now() - 5 * 86_400_000).toISOString().slice(0, 10);
  const path = `/v1/reports/performance?application_id=${own.application.id}&from=${from}&to=${day}${query}`;
  const { totals: all } = await (await worker.team(own, path)).json<{ totals: Record<string, unknown> }>();
  return all;
}

it.each(['GET', 'POST'])(
  'records a click by %s, without a redirect, and attributes by it',
  async (method) => {
    const { tenant: own, id, links: ownLinks } = await newLink();
    const { status, body, messages } = await report(
      ownLinks.click,
      { ip: IP, ua: ANDROID_AGENT, country: 'DE', gclid: 'Cj0K' },
      method,
    );
    expect([status, body]).toEqual([
      200,
      { success: true, counted: true, id: expect.stringMatching(/^clk_/) },
    ]);
    expect(JSON.stringify(messages)).not.toContain(IP);
    await worker.deliver(messages);
    expect(await explained(own, { click_id: body.id })).toMatchObject({
      method: 'click_id',
      creative_id: id,
      country: 'DE',
      network: 'google',
      click: { params: { country: 'DE', gclid: 'Cj0K' } },
    });
    expect(await totals(own)).toMatchObject({ clicks: 1, ad_impressions_bought: 0 });
  },
);

it('counts impressions of the creative, and the click-through rate', async () => {
  const { tenant: own, id, links: ownLinks } = await newLink();
  for (const country of ['DE', 'DE', 'FR', 'FR']) await reported(ownLinks.impression, { country });
  await reported(ownLinks.click);
  expect(await totals(own)).toMatchObject({ ad_impressions_bought: 4, clicks: 1, ctr: 0.25, impressions: 0 });
  expect(await totals(own, `&creative_id=${id}&country=FR`)).toMatchObject({ ad_impressions_bought: 2 });
  const events = await worker.team(own, `/v1/events?application_id=${own.application.id}&type=impression`);
  const { data } = await events.json<{ data: unknown[] }>();
  expect(data).toHaveLength(4);
  expect(data[0]).toMatchObject({ type: 'impression', creative_id: id, country: 'FR' });
});

it('counts a repeat with the same id and time once, on the day of the time', async () => {
  const { tenant: own, links: ownLinks } = await newLink();
  const at = Date.now() - 2 * 86_400_000;
  const ids = new Set<string>();
  for (const time of [String(at), String(at), new Date(at).toISOString()]) {
    for (const link of [ownLinks.impression, ownLinks.click])
      ids.add(await reported(link, { id: 'n-1', time }));
  }
  expect(ids.size).toBe(2);
  expect(await totals(own)).toMatchObject({ ad_impressions_bought: 1, clicks: 1 });
  const day = new Date(at).toISOString().slice(0, 10);
  const path = `/v1/reports/performance?application_id=${own.application.id}&from=${day}&to=${day}`;
  const onDay = await (await worker.team(own, path)).json<{ totals: unknown }>();
  expect(onDay.totals).toMatchObject({ ad_impressions_bought: 1, clicks: 1 });
  await reported(ownLinks.impression, { id: 'n-2', time: String(at) });
  expect(await totals(own)).toMatchObject({ ad_impressions_bought: 2 });
});

it('counts a repeat once also when the time is longer ago than ids of events are remembered', async () => {
  const { tenant: own, links: ownLinks } = await newLink();
  const [at, now] = [Date.now() - 12 * DAY_MS, Date.now()];
  const clicks = async () => {
    const day = new Date(at).toISOString().slice(0, 10);
    await settleAll(own.application.id);
    const path = `/v1/reports/performance?application_id=${own.application.id}&from=${day}&to=${day}`;
    return (await (await worker.team(own, path)).json<{ totals: { clicks: number } }>()).totals.clicks;
  };
  await reported(ownLinks.click, { id: 'n-1', time: String(at) });
  expect(await clicks()).toBe(1);
  const counter = counterOf(env, own.application.id, 0);
  await runInDurableObject(counter, (_, { storage }) => {
    const store = openStore(storage);
    pruneRepeats(store, new SeenIds(store), env, now - 9 * DAY_MS, now);
  });
  await evictDurableObject(counter);
  await reported(ownLinks.click, { id: 'n-1', time: String(at) });
  expect(await clicks()).toBe(1);
  await reported(ownLinks.click, { id: 'n-2', time: String(at) });
  expect(await clicks()).toBe(2);
});

describe('bad input', () => {
  it.each([
    ['event', { event: 'view' }, 'event must be one of click, impression'],
    ['ip', { ip: '{ip}' }, 'ip must be the IP address of the device'],
    ['country', { country: '{country}' }, /^country /],
    ['time', { time: 'yesterday' }, /^time must be a time of the last 28 days/],
    ['time', { time: String(Date.now() - 29 * 86_400_000) }, /^time must be a time of the last 28 days/],
    ['id', { id: 'x'.repeat(257) }, /^id must be at most 256 characters/],
  ])('is refused with the name of %s', async (path, parameters, message) => {
    const { status, body, messages } = await report(links.click, parameters);
    expect([status, messages]).toEqual([400, []]);
    expect(body).toMatchObject({ success: false, details: [{ path }] });
    expect(body.error).toEqual(typeof message === 'string' ? message : expect.stringMatching(message));
  });

  it.each(['wrong', ''])('refuses the secret "%s"', async (secret) => {
    const { status, body, messages } = await report(links.click.replace(/s2s=.*$/, `s2s=${secret}`));
    expect([status, body, messages]).toEqual([
      401,
      { success: false, error: 's2s is not the secret of this link' },
      [],
    ]);
  });

  it('refuses the secret of another link, and does not know a link that is none', async () => {
    const { links: other } = await newLink();
    const { search } = new URL(other.click);
    expect((await report(`${links.click.split('?')[0]}${search}`)).status).toBe(401);
    const { status, body } = await report(links.click.replace(/\/t\/[^?]+/, `/t/${'x'.repeat(22)}`));
    expect([status, body]).toEqual([404, { success: false, error: 'Link not found' }]);
  });

  it('counts no robot, and nothing while collection is off', async () => {
    const robot = await report(links.click, { ua: 'Googlebot/2.1' });
    expect([robot.status, robot.body, robot.messages]).toEqual([
      200,
      { success: true, counted: false, id: null, reason: 'the user agent is a robot' },
      [],
    ]);
    const off = await newLink({ data_collection: false });
    const { body, messages } = await report(off.links.click);
    expect([body.counted, body.reason, messages]).toEqual([false, 'data collection is off', []]);
  });

  it('answers 500 if the queue takes nothing', async () => {
    const failing = startWorker({
      EVENTS: { ...env.EVENTS, send: () => Promise.reject(new Error('down')) } as unknown as Queue,
    });
    const { status } = await failing.request(pathOf(links.click, {}), { headers: SERVER });
    expect(status).toBe(500);
  });
});

describe('view-through attribution', () => {
  it('credits an impression at the address of a similar device, and tells it', async () => {
    const { tenant: own, id, links: ownLinks } = await newLink();
    const impression = await reported(ownLinks.impression, { country: 'DE' });
    const outcome = await explained(own);
    expect(outcome).toMatchObject({
      method: 'view_through',
      creative_id: id,
      click_id: impression,
      country: 'DE',
      candidates: [{ click_id: impression }],
    });
    expect(outcome.confidence).toBeGreaterThan(0.3);
    const viewer = await signedIn(worker, own.team, 'viewer');
    const page = await pageOf(
      await viewer.get(`/debugger/device?app=${own.application.id}&device_id=${outcome.device_id}`),
    );
    const [how, , , shown] = page.card('Attribution').texts('p');
    expect(how).toMatch(
      /^View-through, creative Creative, confidence [\d.]+%\. No click led to this device; /,
    );
    expect(shown).toMatch(/^Shown .* in Germany$/);
  });

  it('leads to one device at most', async () => {
    const { tenant: own, links: ownLinks } = await newLink();
    const impression = await reported(ownLinks.impression);
    expect(await explained(own)).toMatchObject({ method: 'view_through' });
    expect(await explained(own)).toMatchObject({
      method: 'organic',
      refused_clicks: [{ click_id: impression, filter: 'credited' }],
    });
  });

  it('is weaker than any click', async () => {
    const { tenant: own, links: ownLinks } = await newLink();
    const click = await reported(ownLinks.click);
    await reported(ownLinks.impression);
    expect(await explained(own)).toMatchObject({ method: 'probabilistic', click_id: click.split('.')[0] });
  });

  it.each([
    ['of another address', {}, { ...DEVICE, ip: '203.0.113.45' }],
    ['of a device that tells no address', {}, ANDROID_METRICS],
    ['of which only the address is known', { ua: '' }, DEVICE],
    ['of another system', { ua: 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/130.0.0.0' }, DEVICE],
    ['older than the window', { time: String(Date.now() - 25 * 3_600_000) }, DEVICE],
  ])('takes no impression %s', async (_, parameters, data) => {
    const { tenant: own, links: ownLinks } = await newLink();
    await reported(ownLinks.impression, parameters);
    expect(await explained(own, data)).toMatchObject({ method: 'organic' });
  });

  it('has a window of its own, which 0 turns off', async () => {
    const wide = await newLink({ view_window_hours: 48 });
    await reported(wide.links.impression, { time: String(Date.now() - 25 * 3_600_000) });
    expect(await explained(wide.tenant)).toMatchObject({ method: 'view_through' });
    const off = await newLink({ view_window_hours: 0 });
    await reported(off.links.impression);
    expect(await explained(off.tenant)).toMatchObject({ method: 'organic' });
    const stored = await env.DB.prepare('SELECT count(*) AS n FROM impressions WHERE application_id = ?')
      .bind(off.tenant.application.id)
      .first<{ n: number }>();
    expect(stored?.n).toBe(0);
  });

  it('picks the newest of several impressions', async () => {
    const { tenant: own, links: ownLinks } = await newLink();
    const at = Date.now() - 60_000;
    const shown: string[] = [];
    for (const ago of [50_000, 0, 20_000]) {
      shown.push(await reported(ownLinks.impression, { time: String(at - ago) }));
    }
    expect(await explained(own)).toMatchObject({ method: 'view_through', click_id: shown[1] });
  });

  it('erases the impression with its device', async () => {
    const { tenant: own, links: ownLinks } = await newLink();
    const impression = await reported(ownLinks.impression);
    const token = await fetchToken(worker, own, { data: DEVICE });
    const answer = await worker.team(own, `/v1/devices/${token}`, { method: 'DELETE' });
    expect(answer.status).toBe(200);
    const row = await env.DB.prepare('SELECT id FROM impressions WHERE id = ?').bind(impression).first();
    expect(row).toBeNull();
  });
});

it('shows the links for servers to admins only, on the page of the creative', async () => {
  const path = `/creatives/${creativeId}?app=${tenant.application.id}`;
  const seen = async (role: 'admin' | 'viewer') =>
    (await (await (await signedIn(worker, tenant.team, role)).get(path)).text()).includes('s2s=');
  expect([await seen('admin'), await seen('viewer')]).toEqual([true, false]);
});
