import { beforeAll, describe, expect, it } from 'vitest';
import { nearest } from '#lib/nearest';
import { createCreative } from '../helpers/creatives.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

const worker = startWorker();
let tenant: Tenant;
beforeAll(async () => {
  tenant = await createTenant();
  for (const [campaign, adset, creative] of [
    ['Spring', 'Young', 'Cat'],
    ['Spring', 'Old', 'Dog'],
    ['Winter', 'Young', 'Bird'],
    ['ÉTÉ', 'Île', 'Löwe'],
  ] as const) {
    await createCreative(worker, tenant, { campaign, adset, creative });
  }
});

const ask = async (path: string) => {
  const answer = await worker.team(tenant, path.replace('APP', tenant.application.id));
  return { status: answer.status, body: await answer.json<{ message: string; data: { name: string }[] }>() };
};
const RANGE = 'application_id=APP&from=2026-03-01&to=2026-03-02';

describe('an unknown parameter', () => {
  it.each([
    [`/v1/reports/performance?${RANGE}&campaign=Spring`, 'campaign', 'campaign_id'],
    [`/v1/reports/performance?${RANGE}&groupby=day`, 'groupby', 'group_by'],
    [`/v1/reports/retention?${RANGE}&contry=de`, 'contry', 'country'],
    [`/v1/reports/ltv?${RANGE}&day=7`, 'day', 'days'],
    [`/v1/reports/funnel?${RANGE}&steps=install,ad&step=ad`, 'step', 'steps'],
    [`/v1/reports/ads?${RANGE}&form=csv`, 'form', 'from'],
    ['/v1/events?application_id=APP&events_name=x', 'events_name', 'event_name'],
    ['/v1/creatives?application_id=APP&query=x', 'query', 'q'],
    ['/v1/campaigns?application_id=APP&lim=1', 'lim', 'limit'],
    ['/v1/adsets?application_id=APP&Cursor=1', 'Cursor', 'cursor'],
    ['/v1/applications?limits=1', 'limits', 'limit'],
    ['/v1/costs?application_id=APP&form=2026-03-01', 'form', 'from'],
    ['/v1/exchange-rates?form=2026-03-01', 'form', 'from'],
    ['/v1/parked?curser=', 'curser', 'cursor'],
  ])('of %s is refused and names the nearest', async (path, name, meant) => {
    const { status, body } = await ask(path);
    expect([status, body.message]).toEqual([400, `${name} is not a parameter here; did you mean ${meant}?`]);
  });

  it.each(['/v1/health?verbose=1', '/v1/applications/APP?verbose=1', '/v1/events/evt_1?verbose=1'])(
    'of %s, which has none, is refused',
    async (path) => {
      expect(await ask(path)).toMatchObject({
        status: 400,
        body: { message: 'verbose is not a parameter here' },
      });
    },
  );

  it.each([
    ['POST', '/v1/creatives'],
    ['PATCH', '/v1/creatives/crt_1'],
    ['PUT', '/v1/costs'],
    ['PATCH', '/v1/applications/APP'],
    ['DELETE', '/v1/devices/none'],
    ['POST', '/v1/parked/prk_1/replay'],
  ])('of %s %s is refused before its body is read', async (method, path) => {
    const address = `${path.replace('APP', tenant.application.id)}?verbose=1`;
    const answer = await worker.team(tenant, address, {
      method,
      ...(method === 'DELETE' ? {} : { body: [] }),
    });
    expect([answer.status, await answer.json()]).toEqual([
      400,
      { message: 'verbose is not a parameter here' },
    ]);
  });
});

describe('a cursor that is none', () => {
  it.each([
    'creatives?application_id=APP&',
    'campaigns?application_id=APP&',
    'adsets?application_id=APP&',
    'applications?',
  ])('is refused by /v1/%s', async (path) => {
    for (const cursor of ['xyz', 'evt_00000000000000000000000000000000', '0']) {
      const { status, body } = await ask(`/v1/${path}cursor=${cursor}`);
      expect([status, body.message]).toEqual([400, 'cursor must be a cursor returned by a previous request']);
    }
  });
});

describe('q', () => {
  it.each([
    ['creatives', 'cat', ['Cat']],
    ['creatives', 'YOUNG', ['Cat', 'Bird']],
    ['creatives', 'winter', ['Bird']],
    ['creatives', '%', []],
    ['adsets', 'young', ['Young', 'Young']],
    ['adsets', 'spring', ['Young', 'Old']],
    ['campaigns', 'int', ['Winter']],
    ['campaigns', '', ['Spring', 'Winter', 'ÉTÉ']],
    ['creatives', 'lÖWE', ['Löwe']],
    ['creatives', 'éTé', ['Löwe']],
    ['adsets', 'îLE', ['Île']],
    ['adsets', 'Été', ['Île']],
    ['campaigns', 'été', ['ÉTÉ']],
    ['campaigns', 'ete', []],
  ])('searches the names of /v1/%s for %j', async (list, q, names) => {
    const { status, body } = await ask(`/v1/${list}?application_id=APP&q=${encodeURIComponent(q)}`);
    expect([status, body.data.map(({ name }) => name)]).toEqual([200, names]);
  });

  it('has as many different letters as a statement can fold', async () => {
    // Armenian and Cyrillic.
    const letters = [0x561, 0x430].flatMap((first) => Array.from({ length: 31 }, (_, at) => first + at));
    const at = (count: number) => `q=${encodeURIComponent(String.fromCodePoint(...letters.slice(0, count)))}`;
    for (const path of [
      ...['creatives', 'adsets', 'campaigns'].map((list) => `/v1/${list}?application_id=APP`),
      ...['creative,placement', 'event_name', 'campaign'].map(
        (by) => `/v1/reports/performance?${RANGE}&group_by=${by}`,
      ),
      `/v1/reports/ads?${RANGE}&group_by=creative`,
    ]) {
      expect(await ask(`${path}&${at(60)}`), path).toMatchObject({ status: 200 });
      expect(await ask(`${path}&${at(61)}`), path).toMatchObject({
        status: 400,
        body: {
          message: 'q must have at most 60 different letters with upper and lower case beyond a to z',
        },
      });
    }
  });

  it('keeps pages complete', async () => {
    const first = await worker.team(
      tenant,
      `/v1/creatives?application_id=${tenant.application.id}&q=young&limit=1`,
    );
    const page = await first.json<{ data: { name: string }[]; next_cursor: string }>();
    expect(page.data.map(({ name }) => name)).toEqual(['Cat']);
    const { body } = await ask(`/v1/creatives?application_id=APP&q=young&limit=1&cursor=${page.next_cursor}`);
    expect(body.data.map(({ name }) => name)).toEqual(['Bird']);
  });
});

it('answers the address of a created creative, also when it is repeated', async () => {
  const create = () =>
    worker.request('/v1/creatives', {
      method: 'POST',
      headers: {
        'Service-Token': tenant.teamToken,
        'Content-Type': 'application/json',
        'Idempotency-Key': 'located',
      },
      body: JSON.stringify({ creative: 'Located', app_api_key: tenant.apiKey, campaign: 'L' }),
    });
  const first = await create();
  const location = first.headers.get('Location') ?? '';
  expect([first.status, location]).toEqual([
    201,
    expect.stringMatching(/^\/v1\/creatives\/crt_[0-9a-f]{32}$/),
  ]);
  const { creative } = await first.json<{ creative: { tracking_link: string } }>();
  const { body } = await ask('/v1/creatives?application_id=APP&q=Located');
  expect(body.data).toMatchObject([
    { id: location.slice('/v1/creatives/'.length), tracking_link: creative.tracking_link },
  ]);
  const again = await create();
  expect([again.headers.get('Idempotent-Replayed'), again.headers.get('Location')]).toEqual([
    'true',
    location,
  ]);
});

describe('nearest', () => {
  it('takes the name with the fewest changes, the first of several', () => {
    expect(nearest('campain', ['adset_id', 'campaign_id', 'q'])).toBe('campaign_id');
    expect(nearest('abc', ['abd', 'abe'])).toBe('abd');
    expect(nearest('x'.repeat(100_000), ['from'])).toBe('from');
    expect(nearest('x', [])).toBeUndefined();
  });
});
