import { beforeAll, describe, expect, it } from 'vitest';
import { item, partOf } from '../helpers/destination.ts';
import { pageOf } from '../helpers/page.ts';
import { type Browser, signedIn } from '../helpers/person.ts';
import { destinationObject, Receiver } from '../helpers/receiver.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

const worker = startWorker({ SIGN_IN_LIMIT: { limit: async () => ({ success: true }) } });
let tenant: Tenant;
let owner: Browser;

beforeAll(async () => {
  tenant = await createTenant();
  owner = await signedIn(worker, tenant.team, 'owner');
});

const PATH = '/settings/destinations';
const newPath = (query: string) => `${PATH}/new?app=${tenant.application.id}&${query}`;
const HOOK = { events: 'install, purchase', url: 'https://hooks.example.com/in?key=hunter2' };

/** Creates a webhook with the form, and opens its page. */
async function created() {
  const answer = await owner.post(newPath('kind=webhook'), HOOK);
  expect(answer.status).toBe(303);
  const path = answer.headers.get('Location') ?? '';
  return { path, id: path.split('/').at(-1) ?? '', cookie: answer.headers.getSetCookie() };
}

describe('the form of a new destination', () => {
  it('is chosen by kind, and by the preset of a network', async () => {
    const page = await pageOf(await owner.get(`${PATH}/new`));
    expect(page.texts('.starts a')).toEqual([
      ...['Webhook', 'Postback', 'Meta Conversions API', 'TikTok Events API', 'Snap Conversions API'],
      ...['Unity Ads postback', 'Mintegral postback'],
    ]);
  });

  it('names faults at their fields, and keeps what was typed', async () => {
    const fields = { events: 'install, instal', url: 'https://10.0.0.1/' };
    const answer = await owner.post(newPath('kind=webhook'), fields);
    expect(answer.status).toBe(400);
    const page = await pageOf(answer);
    expect(page.value('events')).toBe('install, instal');
    expect(page.texts('.fault').join()).toMatch(/Events must be one of install/);
    const refused = await pageOf(await owner.post(newPath('kind=webhook'), { ...fields, events: 'install' }));
    expect(refused.texts('.fault')).toEqual(['URL must not be a private or local address']);
  });

  it('starts with a preset, whose own values have to be entered', async () => {
    const page = await pageOf(await owner.get(newPath('kind=postback&preset=unity_ads')));
    expect(page.texts('.notice').join()).toContain('Nobody has sent this to Unity');
    const url = page.one('textarea[name="url"]').text;
    expect(url).toContain('advertisingTrackingId={advertising_id}');
    const fields = { events: 'install', 'settings.method': 'GET', url };
    const refused = await pageOf(await owner.post(newPath('kind=postback&preset=unity_ads'), fields));
    expect(refused.texts('.fault').join()).toContain('put your own value there');
  });

  it('is for admins', async () => {
    const viewer = await signedIn(worker, tenant.team, 'viewer');
    expect((await viewer.get(`${PATH}/new`)).status).toBe(403);
    expect((await viewer.post(newPath('kind=webhook'), HOOK)).status).toBe(403);
    expect((await viewer.get(PATH)).status).toBe(200);
  });
});

describe('a destination', () => {
  it('shows its secret once, and never a key of its URL outside the form', async () => {
    const page = await pageOf(await owner.submit(newPath('kind=webhook'), HOOK));
    expect(page.one('.copyable code').text).toMatch(/^whsec_[\w+/=]{40,}$/);
    const list = await (await owner.get(PATH)).text();
    expect(list).toContain('https://hooks.example.com/in?…');
    expect(list).not.toMatch(/hunter2|whsec_/);
  });

  it('lists its deliveries by status and event, with each attempt, and sends one again', async () => {
    const { path, id } = await created();
    const receiver = new Receiver();
    const object = destinationObject(id, receiver);
    const [refused, taken] = [item(tenant.application.id), item(tenant.application.id)];
    receiver.answer = (request) =>
      new Response('no such key', { status: request.id === refused.event.id ? 401 : 200 });
    await object.inside((own) => own.accept([partOf([refused, taken])]));
    await object.work();
    const rows = async (query: string) =>
      (await pageOf(await owner.get(`${path}?${query}`))).cells(
        'Deliveries, the newest first',
        'Event',
        'Status',
        'Reason',
      );
    expect(await rows('status=failed')).toEqual([[refused.event.id, 'Failed', 'Answered 401']]);
    expect(await rows(`event_id=${taken.event.id}`)).toEqual([[taken.event.id, 'Delivered', '–']]);
    const delivery = await pageOf(await owner.get(`${path}/deliveries/${refused.event.id}`));
    const [request = '', answer] = delivery.texts('pre code');
    expect(request).toContain('POST https://hooks.example.com/in?…');
    expect(request).not.toContain('hunter2');
    expect(answer).toBe('no such key');
    receiver.answer = () => new Response('ok');
    expect((await owner.post(`${path}/replay`, { event_id: refused.event.id })).status).toBe(303);
    await object.work();
    expect((await rows('')).map(([, status]) => status)).toEqual(['Delivered', 'Delivered']);
  });

  it('is changed, turned off and on, rotated and removed', async () => {
    const { path } = await created();
    const title = async () => (await pageOf(await owner.get(path))).texts('.card .badge')[0];
    const url = 'https://hooks.example.com/other';
    expect((await owner.post(path, { ...HOOK, url, 'filter.country': 'DE' })).status).toBe(303);
    const page = await pageOf(await owner.get(path));
    expect([page.value('url'), page.value('filter.country')]).toEqual([url, 'de']);
    await owner.post(`${path}/off`);
    expect(await title()).toBe('Off');
    await owner.post(`${path}/on`);
    expect(await title()).toBe('On');
    const rotated = await pageOf(await owner.submit(`${path}/rotate`));
    expect(rotated.one('.copyable code').text).toMatch(/^whsec_/);
    expect((await owner.post(`${path}/remove`)).status).toBe(303);
    expect((await owner.get(path)).status).toBe(404);
  });

  it('of another team is not found', async () => {
    const { path } = await created();
    const other = await createTenant();
    const stranger = await signedIn(worker, other.team, 'owner');
    expect((await stranger.get(path)).status).toBe(404);
    expect((await stranger.post(`${path}/off`)).status).toBe(404);
    expect((await stranger.get(`${path}/deliveries/evt_0195d1f0a4c07c3f8a1b2c3d4e5f6a7b`)).status).toBe(404);
  });
});

it('lists a destination that does not respond, and says so on Health', async () => {
  const { path, id } = await created();
  await destinationObject(id, new Receiver()).inside((object) => {
    object.health = () => Promise.reject(new Error('broken by the test'));
  });
  const page = await pageOf(await owner.get(PATH));
  expect([...page.links.values()].some((link) => link.startsWith(path.split('?')[0] ?? ''))).toBe(true);
  const health = await pageOf(await owner.get(`/status?app=${tenant.application.id}`));
  expect(health.texts('.notice').join()).toContain(`The destination webhook (${id}) does not respond.`);
  expect(health.texts('.figures').join()).toContain('Destinations');
});
