import { beforeAll, expect, it } from 'vitest';
import { ANDROID_AGENT, follow, STORES } from '../helpers/clicks.ts';
import { createCreative } from '../helpers/creatives.ts';
import { envelope } from '../helpers/envelopes.ts';
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
  const html = await answer.text();
  const text = html.replaceAll(/<[^>]+>/g, '|').replaceAll(/[|\s]*\|[|\s]*/g, '|');
  return { html, text };
};

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

it('says in each row what became of the event, and searches by name', async () => {
  const token = await fetchToken(worker, tenant);
  await send(token, 'first', { eid: 'same' });
  await deliver();
  await browser.get('/');
  expect((await read('/debugger')).text).toMatch(/\|Counted\|[^|]*\|[^|]*\|Raw JSON|\|first\|Counted\|/);
  await send(token, 'first', { eid: 'same', created_at: new Date().toISOString() });
  await send(token, 'second', { dev: true });
  await deliver();
  const waiting = await read('/debugger');
  expect(waiting.text).toContain('|second|Queued|');
  await browser.get('/');
  const { text } = await read('/debugger');
  expect(text).toContain('|second|Not counted|');
  expect(text).toContain('|first|Duplicate|');
  expect(text).toContain('|first|Counted|');
  const found = await read('/debugger?event_name=second');
  expect(found.text).toContain('|second|');
  expect(found.text).not.toContain('|first|');
});

it('narrows the list by the filters of the bar, which its own form keeps', async () => {
  const german = await fetchToken(worker, tenant, { data: { country: 'de' } });
  const french = await fetchToken(worker, tenant, { data: { country: 'fr' } });
  await send(german, 'from_germany');
  await send(french, 'from_france');
  await deliver();
  const { html, text } = await read('/debugger?country=de&event_name=from_germany');
  expect(text).toContain('|from_germany|');
  expect(text).toContain('|Country|Germany|');
  expect(html).toContain('<input type="hidden" name="country" value="de"/>');
  expect(html).toContain('event_name=from_germany" aria-label="Remove the filter Country: Germany"');
  expect((await read('/debugger?country=de')).text).not.toContain('|from_france|');
  expect((await read('/debugger?country=de&country=fr')).text).toContain('|from_france|');
});

it('a device’s page tells its click, its attribution and every event, and refreshes while one is queued', async () => {
  const { path } = await createCreative(worker, tenant, { creative: 'Cat' });
  const { publicId, messages } = await follow(worker, path, ANDROID_AGENT, '203.0.113.9', 'DE');
  await worker.deliver(messages);
  const token = await fetchToken(worker, tenant, { data: { click_id: publicId } });
  await worker.post(tenant, '/webhook', envelope.purchase(token, {}, { value: 4.99, currency: 'usd' }));
  await deliver();
  await browser.get('/');
  const list = await read('/debugger?type=custom.purchase');
  const [, escaped = ''] = /href="(\/debugger\/device\?[^"]+)"/.exec(list.html) ?? [];
  const href = escaped.replaceAll('&amp;', '&');
  const page = await read(href);
  expect(page.text).toContain('|click_id|');
  expect(page.text).toMatch(/custom\.purchase\|\$4\.99[^|]*\|Counted\|/);
  expect(page.text).toContain('Acquired, by Cat');
  expect(page.text).toContain('Clicked the ad');
  // The click was named, so none was looked for.
  expect(page.text).not.toContain('There were no candidate clicks.');
  expect(page.html).not.toContain('data-live=""');
  await send(token, 'later');
  await deliver();
  expect((await read(href)).html).toContain('data-live=""');

  const id = new URLSearchParams(href.split('?')[1]).get('device_id') ?? '';
  const filtered = await read(`/debugger?device_id=${id}`);
  expect(filtered.text).toContain('|later|');
  expect(filtered.text).not.toContain('|first|');
  const stranger = await signedIn(worker, (await createTenant()).team, 'owner');
  expect((await stranger.get(`/debugger/device?device_id=${id}`)).status).toBe(404);
  expect((await browser.get('/debugger/device?device_id=nothing')).status).toBe(400);
  expect((await browser.get('/debugger/device')).status).toBe(404);
});
