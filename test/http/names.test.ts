import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import { EventEnvelope } from '#catalogue';
import { database, members } from '#db';
import { deviceMetrics, envelope, withField } from '../helpers/envelopes.ts';
import { pageOf } from '../helpers/page.ts';
import { FORM, PASSWORD, signedIn } from '../helpers/person.ts';
import { createTenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

// Names end up in pages, files, mail subjects and chats. No way in takes one with a line break or another control character.

const worker = startWorker();
const FAULT = 'must not contain line breaks or control characters';
const BAD = [
  'Big\r\nBcc: all@team.test',
  'Big\nsale',
  'Big\tsale',
  'Big\u001b[2Jsale',
  'Big\u0085sale',
  'Big\u2028sale',
];

const COST = {
  date: '2026-03-02',
  campaign: 'Spring',
  adset: 'Young',
  creative: 'Cat',
  currency: 'usd',
  amount: 1,
};

describe('the team API', () => {
  const cases: [string, 'POST' | 'PUT', string, (id: string, key: string) => unknown, string][] = [
    [
      'an application',
      'POST',
      '/v1/applications',
      () => ({ name: 'Game', timezone: 'UTC', currency: 'usd' }),
      'name',
    ],
    ...['creative', 'campaign', 'adset'].map((field): (typeof cases)[number] => [
      `the ${field} of a creative`,
      'POST',
      '/v1/creatives',
      (_, key) => ({ creative: 'Cat', app_api_key: key, campaign: 'Spring', adset: 'Young' }),
      field,
    ]),
    ...['campaign', 'adset', 'creative'].map((field): (typeof cases)[number] => [
      `the ${field} of costs`,
      'PUT',
      '/v1/costs',
      (id) => ({ application_id: id, rows: [COST] }),
      `rows.0.${field}`,
    ]),
  ];
  it.each(cases)('refuses it for %s', async (_, method, path, bodyOf, field) => {
    const tenant = await createTenant();
    const body = bodyOf(tenant.application.id, tenant.apiKey);
    for (const name of BAD) {
      const [list, ...rest] = field.split('.0.');
      const sent = rest[0]
        ? { ...(body as object), [list ?? '']: [withField(COST, rest[0], name)] }
        : withField(body, field, name);
      const answer = await worker.team(tenant, path, { method, body: sent });
      expect([answer.status, await answer.json()]).toEqual([400, { message: `${field} ${FAULT}` }]);
    }
    const answer = await worker.team(tenant, path, { method, body });
    expect(answer.status).toBeLessThan(300);
  });

  it('refuses it in a cost file, with its line', async () => {
    const { application, teamToken } = await createTenant();
    const answer = await worker.request(`/v1/costs/file?application_id=${application.id}`, {
      method: 'PUT',
      headers: { 'Service-Token': teamToken, 'Content-Type': 'text/csv' },
      body: 'date,campaign,currency,amount\n2026-03-02,"Big\nsale",usd,1\n',
    });
    const { message } = (await answer.json()) as { message: string };
    expect([answer.status, message]).toEqual([400, expect.stringContaining(FAULT)]);
    expect(message).toContain('campaign');
  });
});

describe('the dashboard', () => {
  const VIEW = { address: '/ltv?period=28d' };
  it.each([
    ['an application', '/settings/applications', 'name', { timezone: 'UTC', currency: 'usd' }],
    ['an access token', '/settings/tokens', 'name', { days: '90' }],
    ['an invitation', '/settings/members', 'note', { role: 'viewer' }],
    ['a saved view', '/views', 'name', VIEW],
    ['a share link', '/views/links', 'note', { ...VIEW, days: '7' }],
    ['a creative', '/creatives', 'creative', {}],
    ['the campaign of a creative', '/creatives', 'campaign', { creative: 'Cat' }],
  ])('refuses it for %s', async (_, path, field, more) => {
    const { team } = await createTenant();
    const browser = await signedIn(worker, team, 'owner');
    for (const name of BAD) {
      const answer = await browser.post(path, { ...more, [field]: name });
      expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining(FAULT)]);
    }
  });

  it('refuses it for a person who joins, and for the first team and its owner', async () => {
    const { team } = await createTenant();
    const browser = await signedIn(worker, team, 'owner');
    const invited = await pageOf(await browser.submit('/settings/members', { note: 'x', role: 'viewer' }));
    const link = new URL(invited.one('.notice code').text).pathname;
    const person = { email: 'new@team.test', password: PASSWORD };
    const post = (path: string, fields: Record<string, string>) =>
      worker.request(path, { method: 'POST', headers: FORM, body: new URLSearchParams(fields).toString() });
    const joined = await post(link, { ...person, name: 'Ann\nOwner' });
    expect([joined.status, await joined.text()]).toEqual([400, expect.stringContaining(FAULT)]);

    await database(env.DB).delete(members);
    for (const fields of [
      { name: 'Ann', team: 'Big\nsale' },
      { name: 'Ann\nOwner', team: 'Big' },
    ]) {
      const answer = await post('/setup', { ...person, ...fields });
      expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining(FAULT)]);
    }
  });
});

describe('the ingestion API', () => {
  it.each(['device_name', 'device_model', 'os_system'])(
    'refuses it for the %s of a device',
    async (field) => {
      const answer = await worker.post(
        await createTenant(),
        '/fetch-token',
        deviceMetrics({ [field]: 'Big\nsale' }),
      );
      expect([answer.status, await answer.json()]).toMatchObject([
        400,
        { details: [{ path: `data.${field}`, message: FAULT }] },
      ]);
    },
  );

  it('refuses it for the name of an event', async () => {
    const tenant = await createTenant();
    const token = await fetchToken(worker, tenant);
    const event = envelope.custom(token, {}, { event_name: 'level\n1' });
    const answer = await worker.post(tenant, '/webhook', event);
    expect([answer.status, await answer.json()]).toMatchObject([
      400,
      { details: [{ path: 'payload.event_name', message: FAULT }] },
    ]);
  });

  // Revenue is not lost because of a name.
  const bad = 'Big\nsale';
  it.each([
    ['placement', envelope.ad('t', {}, { ad_id: bad }), 'payload.ad_id', 'taken as unknown'],
    ['ad format', envelope.ad('t', {}, { source: bad }), 'payload.source', 'taken as unknown'],
    ['network', envelope.ad('t', {}, { media_source: bad }), 'payload.media_source', 'ignored'],
    ['channel', envelope.ad('t', {}, { channel: bad }), 'payload.channel', 'ignored'],
    ['ad', envelope.ad('t', {}, { name: bad }), 'payload.name', 'ignored'],
    ['product', envelope.purchase('t', {}, { item_id: bad }), 'payload.item_id', 'taken as unknown'],
    ['product name', envelope.purchase('t', {}, { item_name: bad }), 'payload.item_name', 'ignored'],
    ['app version', envelope.custom('t', { app_version: bad }), 'app_version', 'ignored'],
    ['OS', envelope.custom('t', { os_system: bad }), 'os_system', 'ignored'],
    [
      'placement of requests',
      envelope.custom('t', {}, { event_name: 'ad_request', params: { id: bad } }),
      'payload.params.id',
      'ignored',
    ],
    [
      'ad format of requests',
      envelope.custom('t', {}, { event_name: 'ad_request', params: { key: bad } }),
      'payload.params.key',
      'ignored',
    ],
  ])('accepts an event without the name of its %s, and says so', (_, event, path, effect) => {
    expect(EventEnvelope.parse(event).warnings).toEqual([{ path, message: `${FAULT}; ${effect}` }]);
  });

  it('keeps keys and the values of parameters as they are sent', () => {
    const sent = envelope.custom('t', { event_id: 'a\nb' }, { params: { stack: 'one\ntwo' } });
    const parsed = EventEnvelope.parse(sent);
    expect(parsed).toMatchObject({
      event_id: 'a\nb',
      payload: { params: { stack: 'one\ntwo' } },
      warnings: [],
    });
  });
});
