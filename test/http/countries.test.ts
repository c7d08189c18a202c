import { expect, it } from 'vitest';
import { toCountryCode } from '#lib/input/country';
import { ANDROID_AGENT, STORES } from '../helpers/clicks.ts';
import { createCreative } from '../helpers/creatives.ts';
import { putCosts } from '../helpers/money.ts';
import { settleAll } from '../helpers/settle.ts';
import { createTenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

// One table says which codes mean the same country, wherever one is sent, stored or asked for.

const worker = startWorker();
const DAY = '2026-03-02';

it.each([
  ['UK', 'gb'],
  ['uk', 'gb'],
  ['EL', 'gr'],
  ['USA', 'us'],
  [' deu ', 'de'],
  ['GBR', 'gb'],
  ['XKX', 'xk'],
  ['DE', 'de'],
  ['AUT', 'at'],
  ['ABW', 'aw'],
  ['ZWE', 'zw'],
  // Of no list, but two letters: a code that is newer than the table.
  ['qq', 'qq'],
  // A piece of the table that begins within a pair.
  ['bwa', 'bw'],
  ['waf', null],
  ['Germany', null],
  ['unknown', null],
  ['1a', null],
  ['', null],
])('reads %j as %s', (text, code) => {
  expect(toCountryCode(text)).toBe(code);
});

it.each([
  { sent: 'USA', country: 'US' },
  { sent: 'UK', country: 'GB' },
  { sent: 'el', country: 'GR' },
])(
  'counts a device that sends $sent in $country, not in that of its time zone',
  async ({ sent, country }) => {
    const tenant = await createTenant();
    const token = await fetchToken(worker, tenant, { data: { country: sent, timezone: 'Europe/Berlin' } });
    const answer = await worker.team(tenant, `/v1/devices/${token}/attribution`);
    expect(await answer.json()).toMatchObject({ country, country_source: 'data' });
  },
);

it('reads the country of a click that a network’s server reports', async () => {
  const tenant = await createTenant(STORES);
  const { id } = await createCreative(worker, tenant);
  const listed = await worker.team(tenant, `/v1/creatives/${id}/links`);
  const { server_links } = await listed.json<{ server_links?: { click: string } }>();
  const link = new URL(server_links?.click ?? 'https://absent.test');
  for (const [name, value] of Object.entries({ ip: '203.0.113.7', ua: ANDROID_AGENT, country: 'GBR' })) {
    link.searchParams.set(name, value);
  }
  const answer = await worker.request(link.pathname + link.search);
  expect([answer.status, await answer.json()]).toMatchObject([200, { counted: true }]);
  await worker.deliver(worker.queue.take());
  const events = await worker.team(tenant, `/v1/events?application_id=${tenant.application.id}&type=click`);
  expect((await events.json<{ data: unknown[] }>()).data[0]).toMatchObject({ country: 'GB' });
});

it('reads the country of an impression callback, and says if it cannot', async () => {
  const tenant = await createTenant();
  const path = `/v1/applications/${tenant.application.id}`;
  await worker.team(tenant, path, { method: 'PATCH', body: { impression_template: { preset: 'max' } } });
  const made = await worker.team(tenant, `${path}/intake-secret`, { method: 'POST', body: {} });
  const { intake_secret } = await made.json<{ intake_secret: string }>();
  for (const country of ['UK', 'GBR', 'Great Britain']) {
    const query = new URLSearchParams({ id: country, revenue: '0.01', network: 'Unity Ads', country });
    expect((await worker.request(`/impression/${intake_secret}?${query}`)).status).toBe(200);
  }
  await worker.deliver(worker.queue.take());
  await settleAll(tenant.application.id);
  const listed = await worker.team(
    tenant,
    `/v1/events?application_id=${tenant.application.id}&type=mediation.ad`,
  );
  const { data } = await listed.json<{
    data: { country: string | null; warnings: { message: string }[] }[];
  }>();
  expect(data.map(({ country }) => country ?? null).sort()).toEqual(['GB', 'GB', null]);
  const said = data.flatMap(({ warnings }) => warnings.map(({ message }) => message));
  expect(said).toContain('must be an ISO 3166 country code such as DE or DEU; ignored');
});

it('stores costs of one country as one row, and finds it under each of its names', async () => {
  const tenant = await createTenant();
  const row = { date: DAY, campaign: 'Spring', amount: 1 };
  await putCosts(worker, tenant, [
    { ...row, adset: 'a', country: 'UK' },
    { ...row, adset: 'b', country: 'GBR' },
    { ...row, adset: 'c', country: 'gb' },
  ]);
  const { id } = tenant.application;
  const report = async (query: string) => {
    const path = `/v1/reports/performance?application_id=${id}&from=${DAY}&to=${DAY}${query}`;
    const answer = await worker.team(tenant, path);
    return answer.json<{ data: Record<string, unknown>[]; totals: Record<string, unknown> }>();
  };
  const { data } = await report('&group_by=country');
  expect(data.map(({ country, spend }) => [country, spend])).toEqual([['GB', 3]]);
  for (const country of ['UK', 'uk', 'GBR', 'gb']) {
    expect((await report(`&country=${country}`)).totals.spend).toBe(3);
  }
});
