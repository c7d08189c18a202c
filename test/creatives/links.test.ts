import { expect, it } from 'vitest';
import { NETWORKS } from '#networks';
import { ANDROID_AGENT, follow } from '../helpers/clicks.ts';
import { createCreative } from '../helpers/creatives.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { messageIn, startWorker } from '../helpers/worker.ts';

const worker = startWorker();

async function get(tenant: Tenant, path: string) {
  const answer = await worker.team(tenant, path);
  return { status: answer.status, body: await answer.json<Record<string, unknown>>() };
}

it('answers the creative at the address that its creation returns', async () => {
  const tenant = await createTenant();
  const { id, path } = await createCreative(worker, tenant, { creative: 'Dragon', campaign: 'Spring' });
  const { status, body } = await get(tenant, `/v1/creatives/${id}`);
  expect([status, body]).toEqual([
    200,
    expect.objectContaining({ id, name: 'Dragon', campaign: 'Spring', archived: false }),
  ]);
  expect(String(body.tracking_link).endsWith(path)).toBe(true);
});

it('offers a link for each network, whose parameters come with the click', async () => {
  const tenant = await createTenant({
    android_store_url: 'https://play.google.com/store/apps/details?id=com.example.game',
  });
  const { id } = await createCreative(worker, tenant);
  const { body } = await get(tenant, `/v1/creatives/${id}/links`);
  const links = body.data as { network: string; name: string; link: string | null; click_ids: string[] }[];
  expect(links.map(({ network, name, click_ids }) => [network, name, click_ids])).toEqual(
    NETWORKS.map((network) => [network.id, network.name, network.clickIds]),
  );
  const link = links.find(({ network }) => network === 'tiktok')?.link ?? '';
  // As TikTok fills it in.
  const filled = new URL(
    link.replace('__CLICKID__', 'E.C.P.1').replace('__CAMPAIGN_NAME__', 'Spring%20sale'),
  );
  const { messages } = await follow(worker, filled.pathname + filled.search, ANDROID_AGENT);
  expect(messageIn(messages[0]?.body)).toMatchObject({
    clicks: [{ params: { network: 'tiktok', ttclid: 'E.C.P.1', campaign_name: 'Spring sale' } }],
  });
});

it('offers links for the servers of a network that reports from them, which are answered without a redirect', async () => {
  const tenant = await createTenant();
  const { id } = await createCreative(worker, tenant);
  const { body } = await get(tenant, `/v1/creatives/${id}/links`);
  const links = body.data as {
    network: string;
    server_links: { click: string; impression: string } | null;
  }[];
  const offered = links.filter(({ server_links }) => server_links !== null);
  expect(offered.map(({ network }) => network)).toEqual(['mintegral']);
  for (const kind of ['click', 'impression'] as const) {
    // As Mintegral fills it in.
    const link = (offered[0]?.server_links?.[kind] ?? '')
      .replace('{ip}', '203.0.113.7')
      .replace('{ua}', encodeURIComponent(ANDROID_AGENT))
      .replace('{click_id}', 'mtg0a1b2c');
    const { pathname, search } = new URL(link);
    const answer = await worker.request(pathname + search, { redirect: 'manual' });
    expect([answer.status, await answer.json()]).toEqual([200, expect.objectContaining({ counted: true })]);
    const [message] = worker.queue.take();
    expect(messageIn(message?.body)).toMatchObject({
      clicks: [
        {
          ...{ os_family: 'android', device_model: 'Pixel 8', ip_hash: expect.any(String) },
          ...{ network: 'mintegral', params: { mtg_click_id: 'mtg0a1b2c' } },
        },
      ],
    });
  }
});

it.each(['', '/links'])('answers 404 to another team at /v1/creatives/:id%s', async (suffix) => {
  const [tenant, stranger] = [await createTenant(), await createTenant()];
  const { id } = await createCreative(worker, tenant);
  const notFound = { status: 404, body: { message: 'Creative not found' } };
  expect(await get(stranger, `/v1/creatives/${id}${suffix}`)).toEqual(notFound);
  expect(await get(tenant, `/v1/creatives/crt_${'0'.repeat(32)}${suffix}`)).toEqual(notFound);
});
