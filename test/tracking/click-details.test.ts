import { expect, it } from 'vitest';
import { ClickRecord } from '#attribution';
import { LoggedEvent } from '#catalogue';
import { clickParams, countryOf } from '../../src/tracking/click-details.ts';
import { parseQuery } from '../../src/tracking/query.ts';
import { ANDROID_AGENT, follow, IPHONE_AGENT, measure, STORES } from '../helpers/clicks.ts';
import { createCreative } from '../helpers/creatives.ts';
import { createTenant } from '../helpers/tenant.ts';
import { clicksIn, eventsIn, startWorker } from '../helpers/worker.ts';

const worker = startWorker();

/** The one message of a click, as the consumer checks it. */
async function clickMessage(path: string, init: RequestInit<RequestInitCfProperties> = {}) {
  const response = await worker.request(path, {
    redirect: 'manual',
    ...init,
    headers: { 'User-Agent': ANDROID_AGENT, 'cf-connecting-ip': '203.0.113.9', ...init.headers },
  });
  const [message] = worker.queue.take();
  const [click] = clicksIn(message?.body);
  return {
    event: LoggedEvent.parse(eventsIn(message?.body)[0]),
    click: ClickRecord.parse(click),
    location: response.headers.get('Location') ?? '',
  };
}

it.each([
  ['nothing', '', {}],
  [
    'network click ids',
    'gclid=Cj0K&ttclid=E.C.P&utm_source=a%20b',
    { gclid: 'Cj0K', ttclid: 'E.C.P', utm_source: 'a b' },
  ],
  ['the first of several', 'a=1&a=2&b=3', { a: '1', b: '3' }],
  ['an empty value', 'a=&b', { a: '', b: '' }],
  ['no empty name', '=1&a=2', { a: '2' }],
  ['256 characters', `${'n'.repeat(256)}=${'v'.repeat(256)}`, { ['n'.repeat(256)]: 'v'.repeat(256) }],
  ['no longer value, not even cut', `gclid=${'v'.repeat(257)}&a=1`, { a: '1' }],
  ['no longer name', `${'n'.repeat(257)}=1&a=1`, { a: '1' }],
  ['no NUL', 'a=%00&b%00=1&c=1', { c: '1' }],
  ['names of prototypes', '__proto__=1&constructor=2&toString=3', { constructor: '2', toString: '3' }],
])('keeps %s of a query', (_, query, expected) => {
  const kept = clickParams(parseQuery(query));
  expect(kept).toEqual(expected);
  expect(Object.getPrototypeOf(kept)).toBe(Object.prototype);
});

it('keeps the first 20 parameters', () => {
  const query = Array.from({ length: 30 }, (_, index) => [`p${index}`, `${index}`] as const);
  expect(Object.keys(clickParams(query))).toEqual(Array.from({ length: 20 }, (_, index) => `p${index}`));
});

it.each([
  [{ country: 'DE' }, 'de'],
  [{ country: 'XX' }, undefined],
  [{ country: 'T1' }, undefined],
  [{ country: 'Germany' }, undefined],
  [{ country: null }, undefined],
  [{}, undefined],
  [null, undefined],
  [undefined, undefined],
])('reads from %j the country %s', (cf, country) => {
  expect(countryOf(cf)).toBe(country);
});

it('sends parameters and country with the click, and the parameters on to the store', async () => {
  const { path } = await createCreative(worker, await createTenant(STORES));
  const { event, click, location } = await clickMessage(`${path}?gclid=Cj0K&sub=%C3%A9`, {
    cf: { country: 'DE' },
  });
  const details = { country: 'de', params: { gclid: 'Cj0K', sub: 'é' } };
  expect(event).toMatchObject({ type: 'click', ...details });
  expect(click).toMatchObject(details);
  expect(new URL(location).searchParams.get('gclid')).toBe('Cj0K');
});

it('sends neither if there is none', async () => {
  const { path } = await createCreative(worker, await createTenant(STORES));
  const { event, click } = await clickMessage(path);
  for (const part of [event, click]) {
    expect(part).not.toHaveProperty('params');
    expect(part).not.toHaveProperty('country');
  }
});

it('makes a record that the consumer accepts from whatever a browser claims', async () => {
  const { path } = await createCreative(worker, await createTenant(STORES));
  for (const agent of [
    `Mozilla/5.0 (Linux; Android ${'9'.repeat(60)}; ${'m'.repeat(60_000)})`,
    `Mozilla/5.0 (Linux; Android 14; ${'m'.repeat(450)})`,
    `Mozilla/5.0 (iPhone; CPU iPhone OS ${'9_'.repeat(30_000)}`,
    `Mozilla/5.0 (Linux; ${'Android; '.repeat(10_000)}`,
  ]) {
    const { click } = await clickMessage(`${path}?__proto__=1&x=${'é'.repeat(300)}`, {
      headers: { 'User-Agent': agent },
    });
    expect(JSON.stringify(click).length).toBeLessThan(1_000);
  }
});

it('accepts measurements that fit a record, and no others', async () => {
  const { path } = await createCreative(worker, await createTenant(STORES));
  const { publicId } = await follow(worker, path, IPHONE_AGENT);
  const largest = { screen_width: 1e5, screen_height: 1e5, pixel_ratio: 1e5 };
  const { messages } = await measure(worker, path, publicId, { measures: largest });
  const clicks = messages.flatMap(({ body }) => clicksIn(body));
  expect(clicks).toEqual([expect.objectContaining(largest)]);
  for (const name of ['screen_width', 'screen_height', 'pixel_ratio']) {
    const answer = await measure(worker, path, publicId, { measures: { [name]: 1e5 + 1 } });
    expect(answer).toEqual({ status: 400, messages: [] });
  }
});

const record: ClickRecord = {
  application_id: 'app_1',
  id: `clk_${'0'.repeat(32)}`,
  creative_id: 'crt_1',
  os_family: 'ios',
};

it.each([
  ['application_id', 'x'.repeat(65)],
  ['creative_id', 'x'.repeat(65)],
  ['os_version', '1'.repeat(33)],
  ['device_model', 'x'.repeat(129)],
  ['ip_hash', 'x'.repeat(65)],
  ['timezone', 'x'.repeat(65)],
  ['country', 'DE'],
  ['country', 'deu'],
  ['screen_width', 1e6],
  ['screen_height', 1e6],
  ['pixel_ratio', 1e6],
  ['params', Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`${index}`, '']))],
  ['params', { a: 'x'.repeat(257) }],
  ['params', { ['x'.repeat(257)]: '' }],
])('refuses a record whose %s is out of bounds', (field, value) => {
  expect(ClickRecord.safeParse(record).success).toBe(true);
  const result = ClickRecord.safeParse({ ...record, [field]: value });
  expect(result.error?.issues.map(({ path }) => path[0])).toEqual([field]);
});
