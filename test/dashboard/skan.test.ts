import { beforeEach, expect, it } from 'vitest';
import { pageOf } from '../helpers/page.ts';
import { type Browser, signedIn } from '../helpers/person.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';
import { makePostback, store } from '../skan/postbacks.ts';

const worker = startWorker({ SIGN_IN_LIMIT: { limit: async () => ({ success: true }) } });

let tenant: Tenant;
let owner: Browser;
let appId = 4000;

beforeEach(async () => {
  tenant = await createTenant({
    ios_store_url: `https://apps.apple.com/app/id${++appId}`,
    timezone: 'Asia/Tokyo',
    currency: 'eur',
  });
  owner = await signedIn(worker, tenant.team, 'owner');
});

const PERIOD = 'from=2026-03-01&to=2026-03-31';
const open = async (query = '') => pageOf(await owner.get(`/skan?${PERIOD}${query}`));
const arrive = (more: Parameters<typeof makePostback>[0], at = '2026-03-10T03:00:00Z') =>
  store(makePostback({ appId: String(appId), ...more }), Date.parse(at));

it('says what brings postbacks until one has arrived, and then when the last one did', async () => {
  const empty = await open();
  expect(empty.text).toContain("once your app's Info.plist has the keys below");
  expect(empty.all('details[open]#set-up')).toHaveLength(1);
  await arrive({ test: true });
  expect((await open()).text).toContain('Last test');
  await arrive({}, '2026-04-10T20:00:00Z');
  const page = await open();
  expect(page.text).toContain('No postbacks arrived in this period.');
  // The application's zone is nine hours ahead.
  expect(page.text).toMatch(/Last postback .*11.* Apr/);
});

it('shows the figures of the report, with what a schema says that values mean', async () => {
  const version = {
    valid_from: '2026-03-01',
    currency: 'eur',
    fine: { '1': { event: 'trial', revenue_min: 2, revenue_max: 5 } },
  };
  const saved = await worker.team(tenant, `/v1/applications/${tenant.application.id}/skan-schema`, {
    method: 'PUT',
    body: { versions: [version] },
  });
  expect(saved.status).toBe(200);
  await arrive({ fine: 1, network: 'one.skadnetwork' });
  await arrive({ fine: 1, network: 'one.skadnetwork', conversion: 'redownload' });
  await arrive({ fine: null, network: 'two.skadnetwork', didWin: false });
  const page = await open('&by=network');
  expect(page.cells('Postbacks by network id', 'Network id', 'Postbacks', 'Installs', 'Redownloads')).toEqual(
    [
      ['one.skadnetwork', '2', '1', '1'],
      ['two.skadnetwork', '1', '0', '0'],
    ],
  );
  expect(page.cells('Postbacks by network id', 'Value hidden', 'Null rate', 'Estimated revenue')).toEqual([
    ['0', '0%', '€4.00 to €10.00'],
    ['1', '100%', '–'],
  ]);
  expect(page.one('[data-metric="null_rate"]').text).toBe('33.3%');
  expect(page.one('[data-metric="revenue_estimated"]').text).toBe('€4.00 to €10.00');
  const days = await open();
  expect(days.cells('Postbacks by day', 'Postbacks')).toEqual([['3']]);
  // Shown in dollars, for which there is no rate, the estimate is missing and not zero.
  const dollars = await open('&currency=usd');
  expect(dollars.text).toContain('lacks amounts in EUR');
});

it.each([
  ['ingest.test', 'ingest.test', 'Apple posts to ingest.test.'],
  ['registered.test', 'registered.test', 'posts to registered.test, not to ingest.test.'],
  ['', 'example.com', 'Here it is unknown'],
])(
  'has the keys of Info.plist with the domain "%s", folded once there is data',
  async (set, domain, hint) => {
    await arrive({ fine: 1 });
    const deployed = startWorker({ POSTBACK_DOMAIN: set });
    const page = await pageOf(await (await signedIn(deployed, tenant.team, 'viewer')).get(`/skan?${PERIOD}`));
    expect(page.all('details[open]#set-up')).toEqual([]);
    const card = page.card('Set up your app');
    expect(
      card.one('[data-copy]').getAttribute('data-copy'),
    ).toBe(`<key>NSAdvertisingAttributionReportEndpoint</key>
<string>https://${domain}</string>
<key>AttributionCopyEndpoint</key>
<string>https://${domain}</string>
<key>EligibleForAdAttributionKitReengagementPostbackCopies</key>
<true/>`);
    expect(card.text).toContain(hint);
    expect(card.text).not.toContain('App Store URL');
  },
);

it('has the CSV of the API', async () => {
  await arrive({ fine: 3 });
  const file = await owner.get(`/skan?${PERIOD}&by=network&format=csv`);
  const shown = await file.text();
  const { id } = tenant.application;
  const api = await worker.team(
    tenant,
    `/v1/reports/skan?application_id=${id}&${PERIOD}&group_by=network&format=csv`,
  );
  expect(shown).toBe(await api.text());
  for (const name of ['Content-Disposition', 'X-Timezone', 'X-Currency', 'X-Total-Rows'])
    expect([name, file.headers.get(name)]).toEqual([name, api.headers.get(name) ?? 'a header']);
  expect(shown).toContain('com.example,1,');
});

it('lists in the debugger what arrived, with its verification, tests and copies', async () => {
  const own = { transactionId: crypto.randomUUID(), fine: 3, network: 'one.skadnetwork' };
  await arrive(own);
  await arrive({ ...own, fine: 63 });
  await arrive({ test: true, fine: null, network: 'two.skadnetwork', didWin: false }, '2026-03-11T03:00:00Z');
  const page = await pageOf(await owner.get('/debugger'));
  const columns = ['Network id', 'Conversion', 'Window', 'Value', 'Verification'] as const;
  expect(page.cells('Newest postbacks of Apple', ...columns)).toEqual([
    [
      'two.skadnetwork',
      'download, not won',
      '1',
      'hidden',
      'Verified with a key for development: in no report',
    ],
    [
      ...['one.skadnetwork', 'download', '1', '3'],
      'Verified, counted; arrived once more; 1 of them with other values, which do not count',
    ],
  ]);
});

it('names the networks whose ids are known', async () => {
  await arrive({ network: 'V9wttpbfk9.skadnetwork' });
  await arrive({ network: 'v9wttpbfk9x.skadnetwork' });
  expect((await open('&by=network')).cells('Postbacks by network id', 'Network id')).toEqual([
    ['Meta (V9wttpbfk9.skadnetwork)'],
    ['v9wttpbfk9x.skadnetwork'],
  ]);
});
