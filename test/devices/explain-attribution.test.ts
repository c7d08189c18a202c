import { expect, it } from 'vitest';
import { follow, IPHONE_AGENT, IPHONE_METRICS, measure, STORES } from '../helpers/clicks.ts';
import { createCreative } from '../helpers/creatives.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

const worker = startWorker();

const explain = async (tenant: Pick<Tenant, 'teamToken'>, token: string) => {
  const response = await worker.team(tenant, `/v1/devices/${token}/attribution`);
  return [response.status, await response.json()];
};

it('explains an attribution to its own team only', async () => {
  const [tenant, other] = [await createTenant(STORES), await createTenant()];
  const { path, id } = await createCreative(worker, tenant);
  const { clickId, publicId, messages } = await follow(worker, path, IPHONE_AGENT);
  await worker.deliver([...messages, ...(await measure(worker, path, publicId)).messages]);
  const token = await fetchToken(worker, tenant, { data: { ...IPHONE_METRICS, ip: '203.0.113.9' } });
  expect(await explain(tenant, token)).toEqual([
    200,
    {
      device_id: expect.stringMatching(/^dev_/),
      acquired_at: expect.any(String),
      method: 'probabilistic',
      confidence: 0.99,
      ambiguous: false,
      repeated: false,
      refused_clicks: [],
      doubts: expect.any(Array),
      doubts_not_checked: expect.any(Array),
      earlier_installs: 0,
      country: 'DE',
      country_source: 'timezone',
      network: null,
      creative_id: id,
      click_id: clickId,
      click: { clicked_at: expect.stringMatching(/Z$/), country: null, params: {}, named_installs: 0 },
      candidates: [
        {
          click_id: clickId,
          creative_id: id,
          clicked_at: expect.stringMatching(/Z$/),
          score: 18.5,
          probability: expect.any(Number),
          facts: { ip: 8, timezone: 2.5, os_version: 3, screen: 3.5, density: 1.5 },
        },
      ],
    },
  ]);
  const notFound = [404, { message: 'Device not found' }];
  expect(await explain(other, token)).toEqual(notFound);
  expect(await explain(tenant, 'forged')).toEqual(notFound);
  expect((await explain({ teamToken: 'wrong' }, token))[0]).toBe(401);
});

it.each([
  { told: { country: 'BR' }, clicked: 'fr', country: 'BR', country_source: 'data' },
  { told: {}, clicked: 'fr', country: 'FR', country_source: 'click' },
  { told: {}, clicked: undefined, country: 'DE', country_source: 'timezone' },
  { told: { timezone: 'UTC' }, clicked: undefined, country: null, country_source: null },
] as const)('says that the country $country is told by $country_source', async (expected) => {
  const { told, clicked, country, country_source } = expected;
  const tenant = await createTenant(STORES);
  const { path } = await createCreative(worker, tenant);
  const country_code = clicked?.toUpperCase() as Iso3166Alpha2Code | undefined;
  const { publicId, messages } = await follow(worker, path, IPHONE_AGENT, '203.0.113.9', country_code);
  await worker.deliver(messages);
  const token = await fetchToken(worker, tenant, {
    data: { ...IPHONE_METRICS, click_id: publicId, ...told },
  });
  const [, explanation] = await explain(tenant, token);
  expect(explanation).toMatchObject({ method: 'click_id', country, country_source });
});
