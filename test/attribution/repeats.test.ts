import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { clickWasTaken, creditStatements } from '#attribution';
import { newId } from '#lib/ids';
import { IPHONE_CLICK, storeClicks } from '../helpers/click-rows.ts';
import { ANDROID_AGENT, follow, IPHONE_METRICS, STORES } from '../helpers/clicks.ts';
import { createCreative } from '../helpers/creatives.ts';
import { WatchedD1 } from '../helpers/d1.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

// One click brings one install. Whoever names it again is credited as the contract says, and seen.

const worker = startWorker();

type Explained = {
  device_id: string;
  method: string;
  repeated: boolean;
  earlier_installs: number;
  click: Record<string, unknown> | null;
};

async function explain(tenant: Tenant, token: string): Promise<Explained> {
  return (await worker.team(tenant, `/v1/devices/${token}/attribution`)).json();
}

async function install(tenant: Tenant, data: Record<string, unknown>) {
  const token = await fetchToken(worker, tenant, { data });
  return { token, ...(await explain(tenant, token)) };
}

const clickRows = async (tenant: Tenant) =>
  (
    await env.DB.prepare(
      `SELECT id, creative_id, clicked_at, os_family, os_version, country, params, device_id, named_installs
       FROM clicks WHERE application_id = ?`,
    )
      .bind(tenant.application.id)
      .all<Record<string, unknown>>()
  ).results;

async function newClick() {
  const tenant = await createTenant(STORES);
  const creative = await createCreative(worker, tenant);
  const link = `${creative.path}?gclid=Cj0K`;
  const click = await follow(worker, link, ANDROID_AGENT, '203.0.113.9', 'DE');
  return { tenant, creative, ...click };
}

it('flags installs that name a used click, and reports how many named it before', async () => {
  const { tenant, publicId, messages } = await newClick();
  await worker.deliver(messages);
  const first = await install(tenant, { install_referrer: `click_id=${publicId}` });
  const second = await install(tenant, { click_id: publicId });
  const third = await install(tenant, { click_id: publicId });
  expect(
    [first, second, third].map(({ repeated, earlier_installs }) => [repeated, earlier_installs]),
  ).toEqual([
    [false, 0],
    [true, 1],
    [true, 2],
  ]);
  expect(await explain(tenant, first.token)).toMatchObject({
    method: 'referrer',
    repeated: false,
    click: { country: 'DE', params: { gclid: 'Cj0K' }, named_installs: 3 },
  });
  expect(await clickRows(tenant)).toMatchObject([{ device_id: first.device_id, named_installs: 3 }]);
});

it('counts installs that name a click that is still in the queue, which then completes the same row', async () => {
  const { tenant, creative, clickId, publicId, messages } = await newClick();
  const first = await install(tenant, { click_id: publicId });
  expect((await install(tenant, { click_id: publicId })).earlier_installs).toBe(1);
  expect(first.click).toMatchObject({ country: null, params: {} });
  await worker.deliver(messages);
  await worker.deliver(messages);
  expect((await install(tenant, { click_id: publicId })).earlier_installs).toBe(2);
  expect(await clickRows(tenant)).toEqual([
    {
      id: clickId,
      creative_id: creative.id,
      clicked_at: Number.parseInt(clickId.slice(4, 16), 16),
      os_family: 'android',
      os_version: '14',
      country: 'de',
      params: '{"gclid":"Cj0K"}',
      device_id: first.device_id,
      named_installs: 3,
    },
  ]);
});

it('counts an install once although its transaction is retried after an unclear failure', async () => {
  const { tenant, publicId, messages } = await newClick();
  await worker.deliver(messages);
  const db = new WatchedD1(env.DB);
  const failing = startWorker({ DB: db.asBinding() });
  db.failOn(/INTO "clicks"/, 'Network connection lost', { when: 'after' });
  const token = await fetchToken(failing, tenant, { data: { click_id: publicId } });
  expect(db.faultsLeft).toBe(0);
  expect(await explain(tenant, token)).toMatchObject({ repeated: false, click: { named_installs: 1 } });
});

it('counts a device once, however many simultaneous calls it makes', async () => {
  const { tenant, publicId, messages } = await newClick();
  await worker.deliver(messages);
  const data = { device_id: 'player', click_id: publicId };
  const tokens = await Promise.all([1, 2, 3, 4].map(() => fetchToken(worker, tenant, { data })));
  tokens.push(await fetchToken(worker, tenant, { data }));
  const devices = await Promise.all(tokens.map((token) => explain(tenant, token)));
  expect(new Set(devices.map(({ device_id }) => device_id)).size).toBe(1);
  expect(await clickRows(tenant)).toMatchObject([{ device_id: devices[0]?.device_id, named_installs: 1 }]);
});

it('does not count a probabilistic match, so that a device that names the click later is no repeat', async () => {
  const tenant = await createTenant(STORES);
  const { id } = await createCreative(worker, tenant);
  const [click_id] = await storeClicks(tenant.application.id, Date.now(), [
    { ...IPHONE_CLICK, creative_id: id },
  ]);
  const guessed = await install(tenant, IPHONE_METRICS);
  expect(guessed).toMatchObject({ method: 'probabilistic', repeated: false, click: { named_installs: 0 } });
  expect(await install(tenant, { ...IPHONE_METRICS, click_id })).toMatchObject({ repeated: false });
  expect(await install(tenant, { ...IPHONE_METRICS, click_id })).toMatchObject({ earlier_installs: 1 });
  expect(await clickRows(tenant)).toMatchObject([{ device_id: guessed.device_id, named_installs: 2 }]);
});

it('lets a test build see which click it matches, but takes none away from a customer', async () => {
  const tenant = await createTenant(STORES);
  const { id } = await createCreative(worker, tenant);
  const [click_id] = await storeClicks(tenant.application.id, Date.now(), [
    { ...IPHONE_CLICK, creative_id: id },
  ]);
  const build = async (data: Record<string, unknown>) => {
    const token = await fetchToken(worker, tenant, { dev: true, data });
    return explain(tenant, token);
  };
  expect(await build(IPHONE_METRICS)).toMatchObject({ method: 'probabilistic', creative_id: id });
  expect(await build({ ...IPHONE_METRICS, click_id })).toMatchObject({ method: 'click_id', creative_id: id });
  expect(await clickRows(tenant)).toMatchObject([{ device_id: null, named_installs: 0 }]);
  const customer = await install(tenant, IPHONE_METRICS);
  expect(customer).toMatchObject({ method: 'probabilistic', creative_id: id });
  expect(await install(tenant, { ...IPHONE_METRICS, click_id })).toMatchObject({ earlier_installs: 0 });
  expect(await clickRows(tenant)).toMatchObject([{ device_id: customer.device_id, named_installs: 1 }]);
});

it('explains an organic device without a click, and a deleted click without details', async () => {
  const { tenant, publicId, messages } = await newClick();
  await worker.deliver(messages);
  expect(await install(tenant, {})).toMatchObject({ method: 'organic', repeated: false, click: null });
  await install(tenant, { click_id: publicId });
  const { token } = await install(tenant, { click_id: publicId });
  await env.DB.prepare('DELETE FROM clicks WHERE application_id = ?').bind(tenant.application.id).run();
  expect(await explain(tenant, token)).toMatchObject({
    method: 'click_id',
    repeated: true,
    earlier_installs: 1,
    click: null,
  });
});

it('discards a probabilistic match only if another device has claimed the click in the meantime', async () => {
  const tenant = await createTenant();
  const [clickId = ''] = await storeClicks(tenant.application.id, Date.now(), [IPHONE_CLICK]);
  const credit = async (claim: string, deviceId: string, guessed = true) =>
    env.DB.batch(
      creditStatements(env.DB, tenant.application.id, [
        { clickId, creativeId: 'crt_1', deviceId, tokenId: newId('tok'), claim, guessed },
      ]),
    );
  const devices = [newId('dev'), newId('dev'), newId('dev')] as const;
  await credit('a', devices[0]);
  await credit('a', devices[0]);
  // A repeat of the one that claimed it makes another device.
  await credit('a', devices[1]);
  const failure: unknown = await credit('b', devices[2]).catch((error: unknown) => error);
  expect(clickWasTaken(failure)).toBe(true);
  expect(clickWasTaken(new Error('D1_ERROR: NOT NULL constraint failed: clicks.os_family'))).toBe(false);
  await credit('b', devices[2], false);
  expect(await clickRows(tenant)).toMatchObject([{ device_id: devices[1], named_installs: 1 }]);
});
