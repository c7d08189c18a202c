import * as fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { dayIn } from '#lib/time';
import page from '../../docs/skadnetwork.md?raw';
import { SKAN_GROUPS } from '../../src/skan/groups.ts';
import { COARSE_VALUES, CONVERSIONS, type Postback } from '../../src/skan/postback.ts';
import { putRates } from '../helpers/money.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fieldsOf, startWorker } from '../helpers/worker.ts';
import { makePostback, store } from './postbacks.ts';

const worker = startWorker();
let tenant: Tenant;
let app = 1000;

beforeEach(async () => {
  tenant = await createTenant({
    ios_store_url: `https://apps.apple.com/app/id${++app}`,
    timezone: 'Asia/Tokyo',
    currency: 'eur',
  });
});

type Row = Record<string, unknown>;
type Report = { data: Row[]; totals: Row; total_rows: number } & Row;

async function call(method: string, path: string, body?: unknown, by = tenant) {
  const answer = await worker.team(by, path, { method, body });
  return { status: answer.status, body: await answer.json<Row>() };
}
const schemaPath = () => `/v1/applications/${tenant.application.id}/skan-schema`;
const putSchema = (versions: unknown) => call('PUT', schemaPath(), { versions });
async function report(query = ''): Promise<Report> {
  const { status, body } = await call(
    'GET',
    `/v1/reports/skan?application_id=${tenant.application.id}&from=2026-03-01&to=2026-03-31${query}`,
  );
  expect(status, JSON.stringify(body)).toBe(200);
  return body as Report;
}
const arrive = (more: Partial<Postback>, at = '2026-03-10T03:00:00Z') =>
  store(makePostback({ appId: String(app), ...more }), Date.parse(at));

const NOTHING = {
  postbacks: 0,
  did_win: 0,
  installs: 0,
  redownloads: 0,
  reengagements: 0,
  value_hidden: 0,
  value_unmapped: 0,
  value_conflicts: 0,
  revenue_estimated: null,
  events: {},
};
const VERSION = {
  valid_from: '2026-03-01',
  currency: 'eur',
  fine: {
    '0': { event: 'install' },
    '20': { event: 'purchase', revenue_min: 0.99, revenue_max: 4.99 },
    '63': { revenue_min: 10 },
  },
  coarse: { '1': { high: { event: 'purchase', revenue_min: 5, revenue_max: 50 } }, '3': { low: {} } },
};
const full = (meaning: object) => ({ event: null, revenue_min: 0, revenue_max: 0, ...meaning });

describe('the schema', () => {
  it('is empty at first, and afterwards what was put last', async () => {
    const empty = { versions: [], updated_at: null };
    expect(await call('GET', schemaPath())).toEqual({ status: 200, body: empty });
    const later = { valid_from: '2026-06-01', currency: 'USD' };
    const stored = {
      versions: [
        {
          ...VERSION,
          fine: {
            '0': full({ event: 'install' }),
            '20': full(VERSION.fine['20']),
            '63': full({ revenue_min: 10, revenue_max: 10 }),
          },
          coarse: { '1': { high: full(VERSION.coarse['1'].high) }, '3': { low: full({}) } },
        },
        { valid_from: '2026-06-01', currency: 'usd', fine: {}, coarse: {} },
      ],
      updated_at: expect.stringMatching(/Z$/),
    };
    expect(await putSchema([later, VERSION])).toEqual({ status: 200, body: stored });
    const fine = { ...VERSION.fine, '0': { event: 'install', revenue: 1 } };
    const withMore = { ...VERSION, fine, comment: 'unknown' };
    expect((await putSchema([later, withMore])).body.versions).toEqual(stored.versions);
    expect(await call('GET', schemaPath())).toEqual({ status: 200, body: stored });
    expect(await putSchema(stored.versions)).toEqual({ status: 200, body: stored });
    expect(await putSchema([])).toEqual({ status: 200, body: empty });
  });

  it('takes the example of the documentation', async () => {
    const [, example = ''] = /```json\n([^`]*)```/.exec(page) ?? [];
    expect(await putSchema(JSON.parse(example).versions)).toMatchObject({
      status: 200,
      body: { versions: [{ fine: { '20': { event: 'purchase' } } }] },
    });
  });

  it('belongs to the team', async () => {
    const other = await createTenant();
    await putSchema([VERSION]);
    const notFound = { status: 404, body: { message: 'Application not found' } };
    expect(await call('GET', schemaPath(), undefined, other)).toEqual(notFound);
    expect(await call('PUT', schemaPath(), { versions: [] }, other)).toEqual(notFound);
    expect((await call('GET', schemaPath())).body.versions).toHaveLength(1);
  });

  it.each([
    [{}, 'versions must be a list of versions'],
    [
      { versions: [{ ...VERSION, valid_from: '2026-02-30' }] },
      'versions.0.valid_from must be a day, as YYYY-MM-DD',
    ],
    [
      { versions: [{ ...VERSION, currency: 'zzz' }] },
      'versions.0.currency must be a currency code (ISO 4217), such as eur',
    ],
    [{ versions: [VERSION, VERSION] }, 'versions.1.valid_from is the day of another version'],
    [
      { versions: [{ ...VERSION, fine: { '20': { revenue_min: 2, revenue_max: 1 } } }] },
      'versions.0.fine.20.revenue_max must be at least revenue_min',
    ],
    [
      { versions: [{ ...VERSION, fine: { '20': { revenue_min: -1 } } }] },
      'versions.0.fine.20.revenue_min must not be negative',
    ],
    [
      {
        versions: Array.from({ length: 51 }, (_, day) => ({
          ...VERSION,
          valid_from: dayIn('UTC', day * 86_400_000 + 1e12),
        })),
      },
      'versions must have at most 50 versions',
    ],
  ])('is refused by name', async (body, message) => {
    expect(await call('PUT', schemaPath(), body)).toEqual({ status: 400, body: { message } });
  });

  it.each([
    [{ ...VERSION, fine: { '64': {} } }, /fine/],
    [{ ...VERSION, fine: { '007': {} } }, /fine/],
    [{ ...VERSION, coarse: { '4': {} } }, /coarse/],
    [{ ...VERSION, coarse: { '1': { most: {} } } }, /coarse\.1/],
  ])('is refused with a value that does not exist', async (version, message) => {
    const { status, body } = await putSchema([version]);
    expect([status, body.message]).toEqual([400, expect.stringMatching(message)]);
  });
});

describe('the report', () => {
  it('is empty without postbacks', async () => {
    expect(await report()).toEqual({
      data: [],
      totals: NOTHING,
      total_rows: 0,
      currency: 'eur',
      timezone: 'Asia/Tokyo',
      counted_through: expect.any(String),
      last_postback_at: null,
      last_test_postback_at: null,
    });
  });

  it('estimates revenue from values, and none from hidden ones', async () => {
    await putSchema([VERSION]);
    await arrive({ fine: 20 });
    await arrive({ fine: 20, conversion: 'redownload' });
    await arrive({ coarse: 'high' });
    await arrive({ coarse: 'high', sequence: 1 });
    await arrive({ fine: 1 });
    await arrive({ didWin: false });
    await arrive({ network: 'other.example' });
    const { data, totals } = await report('&group_by=network');
    const first = {
      postbacks: 6,
      did_win: 5,
      installs: 3,
      redownloads: 1,
      reengagements: 0,
      value_hidden: 1,
      value_unmapped: 2,
      value_conflicts: 0,
      revenue_estimated: { low: 6.98, high: 59.98 },
      events: { purchase: 3 },
    };
    const hidden = { ...NOTHING, postbacks: 1, did_win: 1, installs: 1, value_hidden: 1 };
    expect(data).toEqual([
      { network: 'com.example', ...first },
      { network: 'other.example', ...hidden },
    ]);
    expect(totals).toEqual({ ...first, postbacks: 7, did_win: 6, installs: 4, value_hidden: 2 });
  });

  it('says that revenue is 0 if the values mean so', async () => {
    await putSchema([VERSION]);
    await arrive({ fine: 0 });
    expect((await report()).totals).toMatchObject({
      revenue_estimated: { low: 0, high: 0 },
      events: { install: 1 },
    });
  });

  it('uses the version of the day of arrival', async () => {
    const version = (valid_from: string, revenue_min: number) => ({
      valid_from,
      currency: 'eur',
      fine: { '5': { revenue_min } },
    });
    await putSchema([version('2026-03-20', 100), version('2026-03-10', 1)]);
    // In Tokyo, these are March 9, 10, 19 and 20.
    const times = [
      '2026-03-09T14:59:59Z',
      '2026-03-09T15:00:00Z',
      '2026-03-19T14:59:59Z',
      '2026-03-19T15:00:00Z',
    ];
    for (const at of times) await arrive({ fine: 5 }, at);
    const { data } = await report();
    expect(
      data.map(({ day, value_unmapped, revenue_estimated }) => [day, value_unmapped, revenue_estimated]),
    ).toEqual([
      ['2026-03-09', 1, null],
      ['2026-03-10', 0, { low: 1, high: 1 }],
      ['2026-03-19', 0, { low: 1, high: 1 }],
      ['2026-03-20', 0, { low: 100, high: 100 }],
    ]);
  });

  it('converts estimates with the latest rate, and lists those without one', async () => {
    await putRates(worker, tenant, '2026-03-31', { usd: 0.5 }, 'eur');
    const version = (valid_from: string, currency: string) => ({
      valid_from,
      currency,
      fine: { '5': { revenue_min: 3, revenue_max: 4 } },
    });
    await putSchema([version('2026-03-01', 'usd'), version('2026-03-20', 'xof')]);
    await arrive({ fine: 5 });
    await arrive({ fine: 5 }, '2026-03-25T03:00:00Z');
    expect((await report()).totals).toMatchObject({
      revenue_estimated: { low: 1.5, high: 2 },
      unconverted: [{ currency: 'xof', low: 3, high: 4 }],
    });
    expect((await report('&currency=usd')).totals).toMatchObject({ revenue_estimated: { low: 3, high: 4 } });
  });

  it('leaves out tests, and says when the last ones arrived', async () => {
    await arrive({ fine: 5, test: true }, '2026-03-12T00:00:00Z');
    await arrive({ fine: 5 }, '2026-02-12T00:00:00Z');
    expect(await report()).toMatchObject({
      totals: NOTHING,
      last_postback_at: '2026-02-12T00:00:00.000Z',
      last_test_postback_at: '2026-03-12T00:00:00.000Z',
    });
  });

  it('flags postbacks that came again with another value', async () => {
    const postback = makePostback({ appId: String(app), fine: 1 });
    for (const fine of [1, 2, 2, null])
      await store({ ...postback, fine }, Date.parse('2026-03-10T00:00:00Z'));
    expect((await report()).totals).toMatchObject({ postbacks: 1, value_conflicts: 1 });
  });

  it('is of the application of the team alone', async () => {
    const other = await createTenant();
    const path = `/v1/reports/skan?application_id=${tenant.application.id}&from=2026-03-01&to=2026-03-31`;
    expect((await call('GET', path, undefined, other)).status).toBe(404);
  });

  it('filters, sums up what exceeds the limit, and answers CSV', async () => {
    await putSchema([VERSION]);
    for (const [index, network] of ['a', 'b', 'b', 'c', 'c', 'c'].entries()) {
      await arrive({
        network,
        fine: 20,
        country: index === 5 ? 'de' : null,
        sourceIdentifier: String(index),
      });
    }
    const { data, total_rows } = await report('&group_by=network&limit=1');
    expect(total_rows).toBe(3);
    expect(data).toMatchObject([
      { network: 'c', postbacks: 3, revenue_estimated: { low: 2.97, high: 14.97 } },
      { network: null, is_other: true, postbacks: 3, revenue_estimated: { low: 2.97, high: 14.97 } },
    ]);
    expect((await report('&network=a&network=b')).totals).toMatchObject({ postbacks: 3 });
    expect((await report('&country=DE')).totals).toMatchObject({ postbacks: 1 });
    expect((await report('&source_identifier=0')).totals).toMatchObject({ postbacks: 1 });
    const csv = await worker.team(
      tenant,
      `/v1/reports/skan?application_id=${tenant.application.id}&from=2026-03-01&to=2026-03-31&group_by=network,country&format=csv`,
    );
    expect(csv.headers.get('Content-Type')).toBe('text/csv; charset=utf-8');
    const lines = (await csv.text()).trim().split('\r\n');
    expect(lines.map((line) => line.split(',').slice(0, 4).join())).toEqual([
      'network,country,postbacks,did_win',
      'b,,2,2',
      'c,,2,2',
      'a,,1,1',
      'c,DE,1,1',
    ]);
    expect(lines[1]).toContain('1.98,9.98,"{""purchase"":2}"');
  });

  it.each([
    ['&group_by=planet', 'group_by'],
    ['&group_by=', 'group_by'],
    ['&group_by=day,network,window', 'group_by'],
    ['&limit=0', 'limit'],
    ['&format=xml', 'format'],
    ['&planets=1', 'planets'],
    ['&to=2026-02-01', 'to'],
    ['&to=2036-02-01', 'to'],
    ['&currency=zzz', 'currency'],
  ])('refuses %s by name', async (query, field) => {
    const [from, to] = query.startsWith('&to')
      ? ['&from=2026-03-01', '']
      : ['&from=2026-03-01', '&to=2026-03-31'];
    const { status, body } = await call(
      'GET',
      `/v1/reports/skan?application_id=${tenant.application.id}${from}${to}${query}`,
    );
    const [named = ''] = fieldsOf(String(body.message));
    expect([status, named.split('.')[0]]).toEqual([400, field]);
  });

  /** An independent count, without SQL: only of what a report is about. */
  function count(postbacks: readonly Postback[]) {
    const known = postbacks.filter(({ fine, coarse }) => fine === 20 || (fine === null && coarse === 'high'));
    const range = (postback: Postback) => {
      if (postback.fine === 20) return postback.sequence === 0 ? [99, 499] : null;
      return postback.sequence === 0 ? [500, 5000] : null;
    };
    const ranges = known.map(range).filter((one) => one !== null);
    const sum = (place: number) => ranges.reduce((all, one) => all + (one[place] ?? 0), 0) / 100;
    const first = postbacks.filter(({ didWin, sequence }) => didWin && sequence === 0);
    return {
      postbacks: postbacks.length,
      did_win: postbacks.filter(({ didWin }) => didWin).length,
      installs: first.filter(({ conversion }) => conversion === 'download').length,
      redownloads: first.filter(({ conversion }) => conversion === 'redownload').length,
      reengagements: first.filter(({ conversion }) => conversion === 're-engagement').length,
      value_hidden: postbacks.filter(({ fine, coarse }) => fine === null && coarse === null).length,
      value_unmapped:
        postbacks.filter(({ fine, coarse }) => fine !== null || coarse !== null).length - ranges.length,
      value_conflicts: 0,
      revenue_estimated: ranges.length === 0 ? null : { low: sum(0), high: sum(1) },
      events: ranges.length === 0 ? {} : { purchase: ranges.length },
    };
  }

  const keyOf: Record<(typeof SKAN_GROUPS)[number], (postback: Postback) => unknown> = {
    day: () => '2026-03-10',
    network: ({ network }) => network,
    source_identifier: ({ sourceIdentifier }) => sourceIdentifier,
    source_app: ({ sourceApp }) => sourceApp,
    country: ({ country }) => country?.toUpperCase() ?? null,
    fidelity: ({ fidelity }) => fidelity,
    conversion_type: ({ conversion }) => conversion,
    window: ({ sequence }) => sequence + 1,
  };

  it('equals an independent count by every grouping', async () => {
    const { '0': _, '63': __, ...fine } = VERSION.fine;
    await putSchema([{ ...VERSION, fine, coarse: { '1': VERSION.coarse['1'] } }]);
    const postback = fc.record({
      sequence: fc.nat(2),
      fine: fc.constantFrom(null, 20, 21),
      coarse: fc.constantFrom(null, ...COARSE_VALUES),
      didWin: fc.boolean(),
      conversion: fc.constantFrom(...CONVERSIONS),
      network: fc.constantFrom('a', 'b'),
      country: fc.constantFrom(null, 'de', 'jp'),
      fidelity: fc.constantFrom(null, 0, 1),
      sourceApp: fc.constantFrom(null, '1', 'x.com'),
      sourceIdentifier: fc.constantFrom('1', '22'),
    });
    const made = fc.sample(postback, { numRuns: 150, seed: 7 });
    const stored = made.map((one) => makePostback({ appId: String(app), ...one }));
    for (const one of stored) await store(one, Date.parse('2026-03-10T03:00:00Z'));
    const pairs = SKAN_GROUPS.map((group, index) => [
      group,
      SKAN_GROUPS[(index + 3) % SKAN_GROUPS.length] ?? group,
    ]);
    for (const groups of [...SKAN_GROUPS.map((group) => [group]), ...pairs]) {
      const namesOf = (one: Postback) =>
        Object.fromEntries(groups.map((group) => [group, keyOf[group as keyof typeof keyOf](one)]));
      const expected = [...Map.groupBy(stored, (one) => JSON.stringify(namesOf(one)))].map(([key, own]) => ({
        ...JSON.parse(key),
        ...count(own),
      }));
      const { data, totals } = await report(`&group_by=${groups.join()}`);
      expect(data, groups.join()).toHaveLength(expected.length);
      expect(data).toEqual(expect.arrayContaining(expected));
      expect(totals).toEqual(count(stored));
    }
  });
});
