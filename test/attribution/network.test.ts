import { expect, it } from 'vitest';
import { ANDROID_AGENT, follow, STORES } from '../helpers/clicks.ts';
import { createCreative } from '../helpers/creatives.ts';
import { settleAll } from '../helpers/settle.ts';
import { claimsOf, storedDevice } from '../helpers/stored.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

// Which network brought a device: decided once, at its attribution.

const worker = startWorker();

async function networkOf(tenant: Tenant, data: Record<string, unknown>) {
  const device = await storedDevice(await claimsOf(await fetchToken(worker, tenant, { data })));
  return device?.description.segment.network;
}

async function withLink() {
  const tenant = await createTenant(STORES);
  const { id, path, token } = await createCreative(worker, tenant);
  const click = async (query: string) => {
    const { publicId, messages } = await follow(worker, `${path}${query}`, ANDROID_AGENT);
    return { publicId, messages };
  };
  const name = async (network: string | null) => {
    const answer = await worker.team(tenant, `/v1/creatives/${id}`, { method: 'PATCH', body: { network } });
    return answer.json<{ network: string | null }>();
  };
  return { tenant, token, click, name };
}

it('is what the parameters of the click name', async () => {
  const { tenant, click } = await withLink();
  for (const [query, network] of [
    ['?utm_source=Facebook', 'meta'],
    ['?ttclid=1', 'tiktok'],
    ['', ''],
  ] as const) {
    const { publicId, messages } = await click(query);
    await worker.deliver(messages);
    expect(await networkOf(tenant, { click_id: publicId })).toBe(network);
  }
  await settleAll(tenant.application.id);
  const day = new Date().toISOString().slice(0, 10);
  const answer = await worker.team(
    tenant,
    `/v1/reports/performance?application_id=${tenant.application.id}&from=${day}&to=${day}&group_by=network`,
  );
  const { data } = await answer.json<{ data: Record<string, unknown>[] }>();
  expect(data.map(({ network, clicks, installs }) => [network, clicks, installs])).toEqual([
    [null, 1, 1],
    ['meta', 1, 1],
    ['tiktok', 1, 1],
  ]);
});

it('is that of the link, whatever its parameters are', async () => {
  const { tenant, token, click, name } = await withLink();
  expect(await name('Unity')).toMatchObject({ network: 'unity_ads' });
  const { publicId, messages } = await click('?network=other');
  // The click is not stored yet, and the link's network is known all the same.
  expect(await networkOf(tenant, { click_id: publicId })).toBe('unity_ads');
  await worker.deliver(messages);
  expect(await networkOf(tenant, { click_id: publicId })).toBe('unity_ads');
  expect(await networkOf(tenant, { creative_token: token })).toBe('unity_ads');
  expect(await name(null)).toMatchObject({ network: null });
  expect(await networkOf(tenant, { creative_token: token })).toBe('');
});

it('is in the install referrer before the click is stored', async () => {
  const { tenant, click } = await withLink();
  const { publicId } = await click('?gclid=1');
  const install_referrer = `click_id=${publicId}&gclid=1`;
  expect(await networkOf(tenant, { install_referrer })).toBe('google');
  expect(await networkOf(tenant, { install_referrer: encodeURIComponent(install_referrer) })).toBe('google');
});

it('is what the sender knows of an imported device, and not of an organic one', async () => {
  const { tenant, token } = await withLink();
  expect(await networkOf(tenant, { creative_token: token, network: 'Googleadwords_int' })).toBe('google');
  expect(await networkOf(tenant, { network: 'meta', install_referrer: 'utm_source=meta' })).toBe('');
});

it.each(['gclid', 'gbraid', 'wbraid'])(
  'is Google’s by the %s of an install without a tracking link',
  async (id) => {
    const { tenant } = await withLink();
    const referrer = `${id}=Cj0KCQ&utm_source=google-play`;
    expect(await networkOf(tenant, { install_referrer: referrer })).toBe('google');
    expect(await networkOf(tenant, { install_referrer: encodeURIComponent(referrer), network: 'meta' })).toBe(
      'google',
    );
  },
);

it('has the cost and the revenue of installs without a creative: in blended figures', async () => {
  const { tenant } = await withLink();
  const day = new Date().toISOString().slice(0, 10);
  for (const value of [3, 9]) {
    const token = await fetchToken(worker, tenant, { data: { install_referrer: 'gclid=1' } });
    await worker.post(tenant, '/webhook', {
      type: 'custom.purchase',
      created_at: new Date().toISOString(),
      creativeToken: token,
      payload: { item_id: 'a', value, currency: 'usd', status: 'completed' },
    });
  }
  await worker.deliver(worker.queue.take());
  const rows = [{ date: day, campaign: 'App campaign', network: 'google', currency: 'usd', amount: 6 }];
  const body = { application_id: tenant.application.id, rows };
  expect((await worker.team(tenant, '/v1/costs', { method: 'PUT', body })).status).toBe(200);
  await settleAll(tenant.application.id);
  const read = async (query: string) => {
    const path = `/v1/reports/performance?application_id=${tenant.application.id}&from=${day}&to=${day}&${query}`;
    return (await worker.team(tenant, path)).json<{ data: object[]; totals: object }>();
  };
  const figures = { spend: 6, installs: 2, revenue: 12, cpi: null, roas: 0, roas_blended: 2 };
  expect((await read('group_by=network')).data).toMatchObject([{ network: 'google', ...figures }]);
  expect((await read('network=google')).totals).toMatchObject(figures);
  expect((await read('network=google&attribution=paid')).totals).toMatchObject({ spend: 6, installs: 0 });
});

it('is not guessed against a click id in the install referrer', async () => {
  const { tenant, click } = await withLink();
  const { messages } = await click('?ttclid=1');
  await worker.deliver(messages);
  const phone = { device_model: 'Pixel 8', os_system: 'Android 14', ip: '203.0.113.9' };
  const explained = async (data: Record<string, unknown>) => {
    const token = await fetchToken(worker, tenant, { data: { ...phone, ...data } });
    const answer = await worker.team(tenant, `/v1/devices/${token}/attribution`);
    return answer.json<{ method: string; network: string | null }>();
  };
  expect(await explained({ install_referrer: 'gclid=1' })).toMatchObject({
    method: 'organic',
    network: 'google',
    play_referrer: { network: 'google', click_ids: { gclid: '1' } },
  });
  expect(await explained({})).toMatchObject({ method: 'probabilistic', network: 'tiktok' });
});
