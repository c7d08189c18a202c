import { env } from 'cloudflare:workers';
import { expect, it, vi } from 'vitest';
import { createAlert, listAlerts, MetricRule, watchAlerts } from '#alerts';
import type { Alert, AlertPreview } from '#alerts/answers';
import { listAudit } from '#audit';
import { alerts, database } from '#db';
import { addDays } from '#lib/time';
import { evaluateRule } from '../../src/alerts/evaluate.ts';
import { createCreative } from '../helpers/creatives.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

const db = database(env.DB);
const worker = startWorker();
const yesterday = () => addDays(new Date().toISOString().slice(0, 10), -1);

const RULE = { kind: 'metric', metric: 'spend', condition: 'above', threshold: 50, days: 1 };

const post = (tenant: Tenant, path: string, body: object) =>
  worker.team(tenant, path, { method: 'POST', body: { application_id: tenant.application.id, ...body } });

async function create(tenant: Tenant, body: object): Promise<Alert> {
  const answer = await post(tenant, '/v1/alerts', body);
  expect(answer.status).toBe(201);
  return answer.json();
}

async function list(tenant: Tenant, query = ''): Promise<{ data: Alert[]; next_cursor: string | null }> {
  const answer = await worker.team(tenant, `/v1/alerts?application_id=${tenant.application.id}${query}`);
  expect(answer.status).toBe(200);
  return answer.json();
}

async function spend(tenant: Tenant, day: string, campaign: string, dollars: number) {
  const rows = [{ date: day, campaign, currency: 'usd', amount: dollars }];
  const body = { application_id: tenant.application.id, rows };
  expect((await worker.team(tenant, '/v1/costs', { method: 'PUT', body })).status).toBe(200);
}

it('creates, lists by page, retrieves and deletes alerts of every kind', async () => {
  const tenant = await createTenant();
  const { id } = await create(tenant, { ...RULE, group_by: 'campaign', filters: { country: ['DE'] } });
  expect(await list(tenant)).toEqual({
    data: [
      {
        ...RULE,
        ...{ id, application_id: tenant.application.id, group_by: 'campaign', filters: { country: ['de'] } },
        ...{ compared_with: null, min_spend: null, min_installs: null, enabled: true },
        ...{ firing_since: null, firing_groups: [], last_fired_at: null, finding: null },
        text: expect.stringMatching(/^Spend of .* by campaign over the last day is above \$50\.00$/),
        created_at: expect.any(String),
      },
    ],
    next_cursor: null,
  });
  const second = await create(tenant, { kind: 'no_events', threshold: 2 });
  expect(second).toMatchObject({ kind: 'no_events', threshold: 2, text: 'No events arrive for 2 hours' });
  expect(second).not.toHaveProperty('metric');
  const first = await list(tenant, '&limit=1');
  expect(first.data.map((alert) => alert.id)).toEqual([id]);
  const rest = await list(tenant, `&limit=1&cursor=${first.next_cursor}`);
  expect([rest.data, rest.next_cursor]).toEqual([[second], null]);
  const path = `/v1/alerts/${second.id}`;
  expect(await (await worker.team(tenant, path)).json()).toEqual(second);
  expect(await (await worker.team(tenant, path, { method: 'DELETE' })).json()).toEqual(second);
  expect((await worker.team(tenant, path, { method: 'DELETE' })).status).toBe(404);
  expect((await list(tenant)).data).toHaveLength(1);
  const log = await listAudit(db, tenant.team.id, { limit: 20 });
  expect(log.map(({ action, subject }) => [action, subject])).toEqual([
    ['alert.removed', 'Test game: No events arrive for 2 hours'],
    ['alert.created', 'Test game: No events arrive for 2 hours'],
    ['alert.created', expect.stringContaining('Test game: Spend of ')],
  ]);
});

it('stores what the dashboard stores, and shows the groups that fire', async () => {
  const tenant = await createTenant();
  const { id } = await create(tenant, { ...RULE, group_by: 'campaign' });
  const caller = { db, team: tenant.team, actor: 'someone@team.test', now: Date.now() };
  const rule = MetricRule.parse({ ...RULE, threshold: '50', days: '1', group_by: 'campaign', min_spend: '' });
  await createAlert(caller, tenant.application, { kind: 'metric', rule });
  const [ours, theirs] = await listAlerts(db, tenant.application.id);
  expect([ours?.kind, ours?.threshold, JSON.parse(ours?.rule ?? '')]).toEqual([
    theirs?.kind,
    theirs?.threshold,
    JSON.parse(theirs?.rule ?? ''),
  ]);
  await spend(tenant, yesterday(), 'Summer', 80);
  const now = Date.now() + 1_000;
  await watchAlerts(env, now);
  const since = new Date(now).toISOString();
  expect(await (await worker.team(tenant, `/v1/alerts/${id}`)).json()).toMatchObject({
    firing_since: since,
    firing_groups: [{ name: 'Summer', since, last_day: yesterday() }],
    finding: `1 of 1 groups past the threshold, ${yesterday()}.`,
  });
});

it('previews what the evaluation of each day says, and creates nothing', async () => {
  const tenant = await createTenant();
  const campaigns = ['Summer', 'Winter'];
  for (const [index, campaign] of campaigns.entries()) {
    await createCreative(worker, tenant, { campaign, adset: 'All' });
    await spend(tenant, yesterday(), campaign, 80 - 60 * index);
    await spend(tenant, addDays(yesterday(), -2), campaign, 10 + 60 * index);
  }
  for (const asked of [{}, { group_by: 'campaign', min_spend: 15 }]) {
    const answer = await post(tenant, '/v1/alerts/preview', { ...RULE, ...asked, days: 2, preview_days: 6 });
    expect(answer.status).toBe(200);
    const { data, currency }: AlertPreview = await answer.json();
    const rule = MetricRule.parse({ ...RULE, ...asked, days: 2 });
    const expected = [];
    for (let back = 0; back < 6; back++) {
      const day = addDays(yesterday(), -back);
      const said = await evaluateRule(env, tenant.application, rule, day, Date.now());
      expected.push({
        ...{ from: addDays(day, -1), to: day, left_out: said.leftOut },
        groups: said.groups.map(({ name, filter, value, before, firing }) => ({
          ...{ name, value, before, firing },
          filter: filter && Object.fromEntries([filter]),
        })),
      });
    }
    expect([data, currency]).toEqual([expected, 'usd']);
    expect(data.flatMap(({ groups }) => groups.map(({ firing }) => firing))).toEqual(
      expect.arrayContaining([true, false]),
    );
  }
  expect(await listAlerts(db, tenant.application.id)).toEqual([]);
});

it('previews the latest days if all would take too long, each as without haste', async () => {
  const tenant = await createTenant();
  for (let back = 0; back < 12; back++) await spend(tenant, addDays(yesterday(), -back), 'Summer', 10 * back);
  const asked = { ...RULE, days: 1, preview_days: 12 };
  const preview = async () =>
    (await (await post(tenant, '/v1/alerts/preview', asked)).json<AlertPreview>()).data;
  const whole = await preview();
  expect(whole).toHaveLength(12);
  const clock = Date.now.bind(Date);
  let looks = 0;
  // Between two looks at the clock pass ten seconds.
  const spied = vi.spyOn(Date, 'now').mockImplementation(() => {
    looks += 1;
    return clock() + looks * 10_000;
  });
  const hasty = await preview();
  spied.mockRestore();
  expect(hasty).toEqual(whole.slice(0, 1));
});

it('rests between the reports of a preview as long as each took, a second at most', async () => {
  const tenant = await createTenant();
  const asked = { ...RULE, days: 1, preview_days: 3 };
  for (const [step, isRest] of [
    [137, (ms: number) => ms > 0 && ms < 1_000 && ms % 137 === 0],
    [1_370, (ms: number) => ms === 1_000],
  ] as const) {
    const clock = Date.now();
    let looks = 0;
    vi.spyOn(Date, 'now').mockImplementation(() => clock + looks++ * step);
    const { setTimeout: wait } = globalThis;
    const waits: number[] = [];
    vi.spyOn(globalThis, 'setTimeout').mockImplementation(((work: () => void, ms = 0) => {
      waits.push(ms);
      return wait(work, Math.min(ms, 1));
    }) as typeof setTimeout);
    await post(tenant, '/v1/alerts/preview', asked);
    vi.restoreAllMocks();
    expect(waits.filter(isRest)).toHaveLength(2);
  }
});

it.each([
  [{ ...RULE, metric: 'weather' }, 'metric must be the name of a metric, such as roas'],
  [{ ...RULE, metric: 'roas', group_by: 'item' }, 'metric is not known with this grouping and these filters'],
  [{ ...RULE, group_by: 'day' }, 'group_by must be one of '],
  [{ ...RULE, days: 31 }, 'days must be a whole number from 1 to 30'],
  [{ ...RULE, threshold: null }, 'threshold must be a number'],
  [{ ...RULE, threshold: true }, 'threshold must be a number'],
  [{ ...RULE, min_spend: -1 }, 'min_spend must not be negative'],
  [{ ...RULE, min_spend: [] }, 'min_spend must be a number'],
  [{ ...RULE, filters: { campaign: ['Summer'] } }, 'filters has no filter campaign'],
  [{ ...RULE, filters: { campaign_id: ['cmp_unknown'] } }, 'filters.campaign_id is not of this application'],
  [{ ...RULE, filters: { campaign_id: [] } }, 'filters.campaign_id must have a value'],
  [{ ...RULE, condition: 'moves' }, 'condition must be one of below, above, falls, rises, changes'],
  [{ ...RULE, condition: 'falls', threshold: 0 }, 'threshold must be above 0, as a change in percent'],
  [{ ...RULE, condition: 'falls', compared_with: 'year' }, 'compared_with must be weekdays or previous'],
  [{ ...RULE, compared_with: 'weekdays' }, 'compared_with needs the condition falls, rises or changes'],
])('refuses %o, also in a preview', async (body, message) => {
  const tenant = await createTenant();
  for (const path of ['/v1/alerts', '/v1/alerts/preview']) {
    const answer = await post(tenant, path, body);
    expect([answer.status, await answer.json()]).toEqual([
      400,
      { message: expect.stringContaining(message) },
    ]);
  }
  expect(await listAlerts(db, tenant.application.id)).toEqual([]);
});

it.each([
  [
    '/v1/alerts',
    { kind: 'weather', threshold: 1 },
    'kind must be one of metric, no_events, service_problems',
  ],
  ['/v1/alerts', {}, 'kind must be one of metric, '],
  ['/v1/alerts', { kind: 'no_events', threshold: 0 }, 'threshold must be above 0'],
  ['/v1/alerts', { kind: 'no_events', threshold: 721 }, 'threshold must be at most 720'],
  ['/v1/alerts/preview', { kind: 'no_events', threshold: 2 }, 'kind must be metric'],
  ['/v1/alerts/preview', { ...RULE, preview_days: 91 }, 'preview_days must be a whole number from 1 to 90'],
])('names the field of %s that is wrong in %o', async (path, body, message) => {
  const answer = await post(await createTenant(), path, body);
  expect([answer.status, await answer.json()]).toEqual([400, { message: expect.stringContaining(message) }]);
});

it('ignores fields that it does not have, in every body', async () => {
  const tenant = await createTenant();
  const { id, created_at, ...made } = await create(tenant, RULE);
  const more = { colour: 'red', filter: { country: ['de'] } };
  expect(await create(tenant, { ...RULE, ...more })).toMatchObject(made);
  expect(await create(tenant, { kind: 'no_events', threshold: 2, metric: 'cpi', ...more })).toMatchObject({
    text: 'No events arrive for 2 hours',
  });
  expect(await change(tenant, id, { threshold: 60, kind: 'no_events', ...more })).toMatchObject({
    status: 200,
    alert: { ...made, id, threshold: 60, text: expect.any(String) },
  });
  const preview = { ...RULE, preview_days: 1 };
  const [plain, other] = await Promise.all(
    [preview, { ...preview, ...more }].map((body) => post(tenant, '/v1/alerts/preview', body)),
  );
  expect([other?.status, await other?.json()]).toEqual([200, await plain?.json()]);
});

const change = async (tenant: Tenant, id: string, body: object) => {
  const answer = await worker.team(tenant, `/v1/alerts/${id}`, { method: 'PATCH', body });
  return { status: answer.status, alert: await answer.json<Alert>() };
};

it('changes what a body names and keeps the rest, and clears with null', async () => {
  const tenant = await createTenant();
  const made = await create(tenant, {
    ...{ ...RULE, group_by: 'campaign', filters: { country: ['de'] }, min_spend: 5, min_installs: 2 },
  });
  const { text: _, ...same } = made;
  const higher = await change(tenant, made.id, { threshold: 60, min_installs: null });
  expect(higher).toMatchObject({ status: 200, alert: { ...same, threshold: 60, min_installs: null } });
  const falls = await change(tenant, made.id, { condition: 'falls', compared_with: 'previous' });
  expect(falls.alert).toMatchObject({ condition: 'falls', compared_with: 'previous', min_spend: 5 });
  const below = await change(tenant, made.id, { condition: 'below', group_by: null, filters: {} });
  expect(below.alert).toMatchObject({ compared_with: null, group_by: null, filters: {}, threshold: 60 });
  const state = await create(tenant, { kind: 'no_events', threshold: 2 });
  expect((await change(tenant, state.id, { threshold: 3 })).alert.text).toBe('No events arrive for 3 hours');
});

it.each([
  [RULE, {}, 'needs a field to change'],
  [RULE, { enabled: 1 }, 'enabled must be true or false'],
  [RULE, { kind: 'no_events' }, 'needs a field to change'],
  [RULE, { metric: 'roas', group_by: 'item' }, 'metric is not known with this grouping and these filters'],
  [RULE, { compared_with: 'previous' }, 'compared_with needs the condition falls, rises or changes'],
  [RULE, { filters: { campaign_id: ['cmp_x'] } }, 'filters.campaign_id is not of this application'],
  [{ kind: 'no_events', threshold: 1 }, { threshold: 721 }, 'threshold must be at most 720'],
  [{ kind: 'no_events', threshold: 1 }, { metric: 'cpi' }, 'metric is not of the kind no_events'],
])('refuses to change %o to %o', async (before, changes, message) => {
  const tenant = await createTenant();
  const made = await create(tenant, before);
  const { status, alert } = await change(tenant, made.id, changes);
  expect([status, alert]).toEqual([400, { message: expect.stringContaining(message) }]);
  expect((await list(tenant)).data).toEqual([made]);
});

it('does not check an alert that is off, and checks it anew when it is on again', async () => {
  const tenant = await createTenant();
  const { id } = await create(tenant, { ...RULE, group_by: 'campaign' });
  // The check an hour from now may judge the day after the one that the first check judges.
  for (const day of [yesterday(), addDays(yesterday(), 1)]) await spend(tenant, day, 'Summer', 80);
  const now = Date.now() + 1_000;
  await watchAlerts(env, now);
  const fired = new Date(now).toISOString();
  expect((await list(tenant)).data[0]).toMatchObject({ firing_since: fired, last_fired_at: fired });
  const off = await change(tenant, id, { enabled: false });
  expect(off.alert).toMatchObject({
    enabled: false,
    firing_since: null,
    finding: null,
    last_fired_at: fired,
  });
  await watchAlerts(env, now + 3_600_000);
  expect((await list(tenant)).data).toEqual([off.alert]);
  expect((await change(tenant, id, { enabled: false })).alert).toEqual(off.alert);
  expect((await change(tenant, id, { enabled: true })).alert).toMatchObject({ enabled: true, finding: null });
  await watchAlerts(env, now + 3_600_001);
  expect((await list(tenant)).data[0]?.firing_since).toBe(new Date(now + 3_600_001).toISOString());
});

it('keeps the alerts of a team to itself', async () => {
  const [tenant, other] = [await createTenant(), await createTenant()];
  const { id } = await create(tenant, RULE);
  for (const method of ['GET', 'DELETE', 'PATCH'] as const) {
    const body = method === 'PATCH' ? { body: { enabled: false } } : {};
    const answer = await worker.team(other, `/v1/alerts/${id}`, { method, ...body });
    expect([answer.status, await answer.json()]).toEqual([404, { message: 'Alert not found' }]);
  }
  const { application } = tenant;
  const path = `/v1/alerts?application_id=${application.id}`;
  expect((await worker.team(other, path)).status).toBe(404);
  for (const to of ['/v1/alerts', '/v1/alerts/preview']) {
    expect((await post(other, to, { ...RULE, application_id: application.id })).status).toBe(404);
  }
  await createCreative(worker, tenant, { campaign: 'Summer', adset: 'All' });
  const listed = await worker.team(tenant, `/v1/campaigns?application_id=${application.id}`);
  const { data } = await listed.json<{ data: { id: string }[] }>();
  const filters = { campaign_id: data.map((campaign) => campaign.id) };
  expect(filters.campaign_id).toHaveLength(1);
  expect((await create(tenant, { ...RULE, filters })).text).toBe(
    'Spend of Summer over the last day is above $50.00',
  );
  for (const to of ['/v1/alerts', '/v1/alerts/preview']) {
    const answer = await post(other, to, { ...RULE, filters });
    expect([answer.status, await answer.json()]).toEqual([
      400,
      { message: expect.stringContaining('filters.campaign_id is not of this application') },
    ]);
  }
  expect((await list(other)).data).toEqual([]);
});

it('takes at most 50 alerts of an application', async () => {
  const tenant = await createTenant();
  const { id } = await create(tenant, RULE);
  const [row] = await listAlerts(db, tenant.application.id);
  if (!row) throw new Error(`no ${id}`);
  const [first, ...more] = Array.from({ length: 49 }, (_, index) =>
    db.insert(alerts).values({ ...row, id: `${id}${index}` }),
  );
  if (first) await db.batch([first, ...more]);
  expect((await post(tenant, '/v1/alerts', RULE)).status).toBe(409);
});
