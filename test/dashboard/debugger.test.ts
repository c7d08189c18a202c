import { beforeAll, expect, it } from 'vitest';
import { ANDROID_AGENT, follow, STORES } from '../helpers/clicks.ts';
import { createCreative } from '../helpers/creatives.ts';
import { envelope } from '../helpers/envelopes.ts';
import { Page, pageOf, queryOf, textOf } from '../helpers/page.ts';
import { type Browser, signedIn } from '../helpers/person.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

const worker = startWorker();

let tenant: Tenant;
let browser: Browser;

beforeAll(async () => {
  tenant = await createTenant(STORES);
  browser = await signedIn(worker, tenant.team, 'viewer');
});

const read = async (path: string) => {
  const answer = await browser.get(path);
  expect(answer.status).toBe(200);
  return pageOf(answer);
};

/** The events in the list, newest first. */
const listed = (page: Page) => page.cells('Newest events', 'Type', 'What', 'Status');

/** What the events in the list are called; an install has no name. */
const namesOf = (page: Page) => listed(page).map(([, name]) => name);

/** The entries of a device's timeline, newest first, without their times. */
const timelineOf = (page: Page) =>
  page.texts('.timeline li').map((entry) => entry.replace(/^\d+ \w+, [\d:]+ /, ''));

const send = async (token: string, name: string, more: Record<string, unknown> = {}) => {
  const now = new Date().toISOString();
  const event = {
    type: 'custom',
    created_at: now,
    creativeToken: token,
    payload: { event_name: name },
    ...more,
  };
  expect((await worker.post(tenant, '/webhook', event)).status).toBe(200);
};
const deliver = () => worker.deliver(worker.queue.take());

it('shows the status of each event, and searches by name', async () => {
  const token = await fetchToken(worker, tenant);
  await send(token, 'first', { eid: 'same' });
  await deliver();
  await browser.get('/');
  expect(listed(await read('/debugger'))).toEqual([
    ['Custom event', 'first', 'Counted'],
    ['Install', 'Organic', 'Counted'],
  ]);
  await send(token, 'first', { eid: 'same', created_at: new Date().toISOString() });
  await send(token, 'second', { dev: true });
  await deliver();
  expect(listed(await read('/debugger'))).toEqual([
    ['Custom event', 'second Test event: not counted', 'Queued'],
    ['Custom event', 'first', 'Queued'],
    ['Custom event', 'first', 'Counted'],
    ['Install', 'Organic', 'Counted'],
  ]);
  await browser.get('/');
  expect(listed(await read('/debugger'))).toEqual([
    ['Custom event', 'second Test event: not counted', 'Not counted'],
    ['Custom event', 'first', 'Duplicate'],
    ['Custom event', 'first', 'Counted'],
    ['Install', 'Organic', 'Counted'],
  ]);
  expect(listed(await read('/debugger?event_name=second'))).toEqual([
    ['Custom event', 'second Test event: not counted', 'Not counted'],
  ]);
});

it('filters the list by the filter bar, and keeps those filters in its own form', async () => {
  const german = await fetchToken(worker, tenant, { data: { country: 'de' } });
  const french = await fetchToken(worker, tenant, { data: { country: 'fr' } });
  await send(german, 'from_germany');
  await send(french, 'from_france');
  await deliver();
  const page = await read('/debugger?country=de&event_name=from_germany');
  expect(namesOf(page)).toEqual(['from_germany']);
  expect(page.texts('.chip-text')).toEqual(['Country Germany', 'Event name from_germany']);
  expect(page.value('country')).toBe('de');
  expect(page.query('Country Germany ×')).toEqual({ app: tenant.application.id, event_name: 'from_germany' });
  expect(namesOf(await read('/debugger?country=de'))).toEqual(['from_germany', 'Organic']);
  expect(namesOf(await read('/debugger?country=de&country=fr'))).toEqual([
    'from_france',
    'from_germany',
    'Organic',
    'Organic',
  ]);
});

it('shows a device’s click, attribution and events, and refreshes while one is queued', async () => {
  const { path } = await createCreative(worker, tenant, { creative: 'Cat' });
  const { publicId, messages } = await follow(worker, path, ANDROID_AGENT, '203.0.113.9', 'DE');
  await worker.deliver(messages);
  const token = await fetchToken(worker, tenant, { data: { click_id: publicId } });
  await worker.post(tenant, '/webhook', envelope.purchase(token, {}, { value: 4.99, currency: 'usd' }));
  await deliver();
  await browser.get('/');
  const list = await read('/debugger?type=custom.purchase');
  const href = [...list.links.values()].find((link) => link.startsWith('/debugger/device?')) ?? '';
  const page = await read(href);
  expect(page.texts('.page-title > *')).toEqual(['Debugger › Device', queryOf(href).device_id]);
  const event = await read(page.link('Purchase'));
  expect(event.texts('.page-title > *')).toEqual(['Debugger › Event', 'Purchase']);
  const folded = event.one('#live details');
  expect(folded.hasAttribute('open')).toBe(false);
  const json = folded.querySelector('pre.event')?.text ?? '';
  const sent: Record<string, unknown> = JSON.parse(json);
  expect(sent).toMatchObject({ type: 'custom.purchase', value: 4.99 });
  expect(new Page(folded).texts('summary')).toEqual([
    `$4.99 · gold · completed · ${Object.keys(sent).length} fields`,
  ]);
  expect(list.cells('Newest events', 'Raw JSON')).toEqual([
    [expect.stringMatching(new RegExp(`^${Object.keys(sent).length} fields {`))],
  ]);
  // The click was named, so none was looked for.
  expect(page.card('Attribution').texts('p')).toEqual([
    'Click id, creative Cat, confidence 100%. Your backend named a click within the attribution window.',
    'Not checked, because too little is known: Click after the installation began; Google Play saw another click; Creative with click flooding.',
    'Country: Germany, from the credited click',
    expect.stringMatching(/^Clicked \d+ \w+, [\d:]+ in Germany$/),
  ]);
  expect(timelineOf(page)).toEqual([
    'Purchase $4.99 · gold · completed Counted',
    'Install Click id Counted',
    'Acquired, by Cat',
    'Clicked the ad',
  ]);
  expect(page.all('[data-live=""]')).toEqual([]);
  await send(token, 'later');
  await deliver();
  expect((await read(href)).all('[data-live=""]')).toHaveLength(1);

  const id = queryOf(href).device_id ?? '';
  expect(listed(await read(`/debugger?device_id=${id}`))).toEqual([
    ['Custom event', 'later', 'Queued'],
    ['Purchase', '$4.99 · gold · completed', 'Counted'],
    ['Install', 'Click id', 'Counted'],
  ]);
  const stranger = await signedIn(worker, (await createTenant()).team, 'owner');
  expect((await stranger.get(`/debugger/device?device_id=${id}`)).status).toBe(404);
  expect((await browser.get('/debugger/device?device_id=nothing')).status).toBe(404);
  expect((await browser.get('/debugger/device')).status).toBe(404);
});

it('says why it lists nothing', async () => {
  const made = await createTenant();
  const { id } = made.application;
  const reader = await signedIn(worker, made.team, 'viewer');
  const sentenceOf = async (path: string) => {
    const [empty] = (await pageOf(await reader.get(path))).all('#live .empty');
    return empty && [textOf(empty), empty.querySelector('a')?.getAttribute('href')];
  };
  expect(await sentenceOf('/debugger')).toEqual([
    'Events appear here within seconds after your backend sends them. Send the first event',
    `/get-started?app=${id}`,
  ]);
  for (const filter of ['event_name=level_up', 'country=de', 'type=custom.ad']) {
    expect(await sentenceOf(`/debugger?${filter}`)).toEqual([
      'No events match. Show all events',
      `/debugger?app=${id}`,
    ]);
  }
});
