import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { type Attribution, hashAddress, type Installation, prepareAttribution } from '#attribution';
import { IPHONE_CLICK, storeClicks } from '../helpers/click-rows.ts';
import { ANDROID_METRICS, IPHONE_METRICS } from '../helpers/clicks.ts';
import { createTenant } from '../helpers/tenant.ts';

// Which clicks the database finds for a device, independently of what the endpoint accepts.

const NOW = Date.now();
const MINUTE = 60_000;
const times = <Value>(count: number, make: (index: number) => Value) =>
  Array.from({ length: count }, (_, index) => make(index));

async function application() {
  const { id } = (await createTenant()).application;
  const hash = async (address: string) => (await hashAddress(env.KEY_ENCRYPTION_SECRET, id, address)) ?? '';
  const attribute = async (
    report: Partial<Installation['report']>,
    db = env.DB,
  ): Promise<Attribution | undefined> => {
    const settings = {
      id,
      attributionWindowHours: 168,
      probabilisticWindowHours: 24,
      viewWindowHours: 24,
    };
    const installation = {
      claim: 'dev_1',
      report: { ...IPHONE_METRICS, ...report },
      acquiredAt: NOW,
      test: false,
    };
    const [attributed] = (await prepareAttribution({ ...env, DB: db }, settings, [installation], NOW))([
      installation,
    ]);
    return attributed?.attribution;
  };
  return { id, hash, attribute };
}

/** A D1 that adds up the rows that its statements read. */
function countingRows() {
  let rows = 0;
  const batch: D1Database['batch'] = async (statements) => {
    const results = await env.DB.batch(statements);
    for (const { meta } of results) rows += meta.rows_read;
    return results as never;
  };
  const db = new Proxy(env.DB, {
    get: (target, name) => {
      if (name === 'batch') return batch;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return { db, rowsRead: () => rows };
}

it.each([
  [
    'a bare version beside the name of the system',
    { os_system: '18.1', device_name: 'iOS', device_model: 'iPhone' },
  ],
  [
    'a bare version beside a model alone',
    { os_system: '18.1', device_name: 'Jane', device_model: 'iPhone15,4' },
  ],
  ['both in one', { os_system: 'iOS 18.1' }],
])('matches %s alike', async (_, report) => {
  const { id, attribute } = await application();
  const [click] = await storeClicks(id, NOW - MINUTE, [{ ...IPHONE_CLICK, os_version: '18.1' }]);
  expect(await attribute(report)).toMatchObject({
    method: 'probabilistic',
    click_id: click,
    candidates: [{ facts: { timezone: 2.5, os_version: 3, screen: 3.5, density: 1.5 } }],
  });
});

it.each(['', '2026-11-10T09:00:00.058Z', 'Mars/Olympus', 'undefined', '+05:30'])(
  'treats the zone "%s" as unknown, neither for nor against a click',
  async (timezone) => {
    const { id, hash, attribute } = await application();
    const ip = '203.0.113.9';
    const [click] = await storeClicks(id, NOW - MINUTE, [{ ...IPHONE_CLICK, ip_hash: await hash(ip) }]);
    const facts = { os_version: 3, screen: 3.5, density: 1.5 };
    expect(await attribute({ timezone, ip })).toMatchObject({
      method: 'probabilistic',
      click_id: click,
      candidates: [{ facts: { ...facts, ip: 8 }, score: 16 }],
    });
    // Without an address there is nothing to find it by but its family.
    expect(await attribute({ timezone })).toMatchObject({
      method: 'probabilistic',
      click_id: click,
      confidence: 0.5,
      candidates: [{ facts, score: 8 }],
    });
  },
);

it('finds a click by OS family among newer ones of another family if the zone is unknown', async () => {
  const { id, attribute } = await application();
  const [click] = await storeClicks(id, NOW - MINUTE, [IPHONE_CLICK]);
  const newer = times(300, (index) => ({
    os_family: 'android' as const,
    timezone: 'UTC',
    ip_hash: `${index}`,
  }));
  await storeClicks(id, NOW, newer);
  expect(await attribute({ timezone: '' })).toMatchObject({ method: 'probabilistic', click_id: click });
});

it('finds no click of another family, zone or application, or from before the window', async () => {
  const { id, attribute } = await application();
  const { id: other } = await application();
  await storeClicks(other, NOW - MINUTE, [IPHONE_CLICK]);
  await storeClicks(id, NOW - MINUTE, [{ ...IPHONE_CLICK, os_family: 'macos' }]);
  await storeClicks(id, NOW - 24 * 60 * MINUTE - 10, [IPHONE_CLICK]);
  for (const timezone of ['Europe/Berlin', '']) {
    expect(await attribute({ timezone })).toMatchObject({ method: 'organic', candidates: [] });
  }
  await storeClicks(id, NOW - MINUTE, [{ ...IPHONE_CLICK, timezone: 'Asia/Tokyo' }]);
  expect(await attribute({})).toMatchObject({ method: 'organic', candidates: [] });
  expect(await attribute({ timezone: '' })).toMatchObject({ candidates: [{ score: 8 }] });
});

it.each([
  ['in its zone', 'Europe/Berlin', { timezone: 'Europe/Berlin' }],
  ['unmeasured', 'Europe/Berlin', {}],
  ['in any zone, where its own is unknown', '', { timezone: 'Europe/Berlin' }],
])('finds a click behind a flood of newer ones from 5 addresses, %s', async (_, timezone, flood) => {
  const { id, attribute } = await application();
  const [click] = await storeClicks(id, NOW - MINUTE, [{ ...IPHONE_CLICK, ...flood, ip_hash: 'home' }]);
  await storeClicks(
    id,
    NOW,
    times(150, (index) => ({
      os_family: 'ios' as const,
      os_version: '9',
      ...flood,
      ip_hash: `flood ${index % 5}`,
    })),
  );
  expect(await attribute({ timezone })).toMatchObject({
    method: 'probabilistic',
    click_id: click,
  });
});

it('credits a genuine match although 150 clicks that look like it come from 5 addresses', async () => {
  const { id, hash, attribute } = await application();
  const ip = '203.0.113.9';
  const phone = { os_family: 'android' as const, os_version: '14', device_model: 'Pixel 8' };
  const [click] = await storeClicks(id, NOW - MINUTE, [{ ...phone, ip_hash: await hash(ip) }]);
  const measured = { timezone: 'Europe/Berlin', screen_width: 412, screen_height: 915, pixel_ratio: 2.625 };
  await storeClicks(
    id,
    NOW,
    times(150, (index) => ({
      ...phone,
      ...measured,
      creative_id: `crt_${index}`,
      ip_hash: `flood ${index % 5}`,
    })),
  );
  const device = { ...ANDROID_METRICS, window_width: 1080, window_height: 2400, dpi: 420, ip };
  const outcome = await attribute(device);
  expect(outcome).toMatchObject({ method: 'probabilistic', click_id: click, ambiguous: false });
  expect(outcome?.confidence).toBeGreaterThan(0.75);
});

it('is not confident about one of 50 look-alikes behind one address if its own address is unknown', async () => {
  const { id, attribute } = await application();
  const office = times(50, (index) => ({ ...IPHONE_CLICK, creative_id: `crt_${index}`, ip_hash: 'office' }));
  await storeClicks(id, NOW, office);
  expect(await attribute({})).toMatchObject({ method: 'organic', ambiguous: true });
});

it('reads a bounded number of rows, however many clicks there are', async () => {
  const { id, hash, attribute } = await application();
  const ip_hash = await hash('203.0.113.9');
  for (const click of [{ ...IPHONE_CLICK, ip_hash }, IPHONE_CLICK, { os_family: 'ios' as const }]) {
    await storeClicks(
      id,
      NOW - MINUTE,
      times(2_000, () => click),
    );
  }
  for (const timezone of ['Europe/Berlin', '']) {
    const { db, rowsRead } = countingRows();
    await attribute({ timezone, ip: '203.0.113.9' }, db);
    expect(rowsRead()).toBeGreaterThan(500);
    expect(rowsRead()).toBeLessThan(1_200);
  }
});

it('weighs the newest clicks, not the oldest, among more than can be weighed', async () => {
  const { id, attribute } = await application();
  const others = times(260, () => ({
    ...IPHONE_CLICK,
    os_version: '15.0',
    screen_width: 320,
    screen_height: 568,
  }));
  const clicks = await storeClicks(id, NOW - MINUTE, [IPHONE_CLICK, ...others]);
  expect((await attribute({}))?.candidates[0]).toMatchObject({ click_id: clicks[0] });
  expect(await attribute({})).toMatchObject({ method: 'probabilistic', click_id: clicks[0] });
});

it('leaves to a real device the click that a test build matches as well', async () => {
  const { id } = await application();
  const [click] = await storeClicks(id, NOW - MINUTE, [IPHONE_CLICK]);
  const settings = {
    id,
    attributionWindowHours: 168,
    probabilisticWindowHours: 24,
    viewWindowHours: 24,
  };
  const installation = { report: IPHONE_METRICS, acquiredAt: NOW };
  const build = { ...installation, claim: 'dev_test', test: true };
  const [real, second] = ['dev_1', 'dev_2'].map((claim) => ({ ...installation, claim, test: false }));
  if (!real || !second) throw new Error('two devices');
  const all = [build, real, second];
  const attributed = (await prepareAttribution(env, settings, all, NOW))(all);
  expect(attributed.map(({ attribution }) => attribution.click_id)).toEqual([click, click, null]);
});

it('does not count a guess as a device that named the click, among devices of one request either', async () => {
  const { id } = await application();
  const [click] = await storeClicks(id, NOW - MINUTE, [IPHONE_CLICK]);
  const settings = {
    id,
    attributionWindowHours: 168,
    probabilisticWindowHours: 24,
    viewWindowHours: 24,
  };
  const installation = { acquiredAt: NOW, test: false };
  const named = { ...IPHONE_METRICS, click_id: click };
  const all = [IPHONE_METRICS, named, named].map((report, index) => ({
    ...installation,
    claim: `dev_${index}`,
    report,
  }));
  const attributed = (await prepareAttribution(env, settings, all, NOW))(all);
  expect(attributed.map(({ attribution }) => [attribution.method, attribution.earlier_installs])).toEqual([
    ['probabilistic', 0],
    ['click_id', 0],
    ['click_id', 1],
  ]);
});
