import { env } from 'cloudflare:workers';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createAlert, listAlerts, MetricRule, previewRule, sendNotices, watchAlerts } from '#alerts';
import { alerts, channels, database, notices } from '#db';
import { addDays } from '#lib/time';
import { evaluateRule, meanOf } from '../../src/alerts/evaluate.ts';
import { judge } from '../../src/alerts/rule.ts';
import { createCreative } from '../helpers/creatives.ts';
import { addFigures } from '../helpers/figures.ts';
import { pageOf } from '../helpers/page.ts';
import { signedIn } from '../helpers/person.ts';
import { answerFetch } from '../helpers/strict-fetch.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { slowIt } from '../helpers/thorough.ts';
import { startWorker } from '../helpers/worker.ts';

const db = database(env.DB);
const worker = startWorker();
const HOUR = 3_600_000;
const NOW = Date.UTC(2026, 2, 28, 9, 30);
const YESTERDAY = '2026-03-27';

let posts: string[];

beforeEach(async () => {
  await db.batch([db.delete(alerts), db.delete(channels), db.delete(notices)]);
  posts = [];
  answerFetch(async (_, init) => {
    posts.push(JSON.parse(String(init?.body)).text);
    return new Response('ok');
  });
});
afterEach(() => vi.restoreAllMocks());

const ruleOf = (rule: object) =>
  MetricRule.parse({ metric: 'spend', condition: 'above', threshold: 50, days: 1, ...rule });

const callerFor = ({ team }: Tenant) => ({ db, team, actor: 'someone@team.test', now: NOW });

async function spend(tenant: Tenant, day: string, campaign: string, dollars: number) {
  await env.DB.prepare(
    `INSERT OR REPLACE INTO costs (application_id, day, campaign, adset, creative, currency, amount, updated_at)
     VALUES (?, ?, ?, '', '', 'usd', ?, 0)`,
  )
    .bind(tenant.application.id, day, campaign, dollars * 1e9)
    .run();
}

async function addChannel({ application }: Tenant) {
  await db.insert(channels).values({
    ...{ id: `chn_${application.id}`, applicationId: application.id, kind: 'webhook' },
    ...{ target: 'https://hooks.slack.test.example/x', digest: 'never', nextDigestAt: null },
    ...{ origin: 'https://dash.test', createdAt: NOW },
  });
}

async function run(now: number) {
  await watchAlerts(env, now);
  await sendNotices(env, now);
}

it('judges each group apart, names it with its value, and stays silent until it has recovered', async () => {
  const tenant = await createTenant();
  await addChannel(tenant);
  const rule = ruleOf({ group_by: 'campaign' });
  await createAlert(callerFor(tenant), tenant.application, { kind: 'metric', rule });
  await spend(tenant, YESTERDAY, 'Summer', 80);
  await spend(tenant, YESTERDAY, 'Winter', 20);
  await run(NOW);
  const path = `https://dash.test/breakdown?app=${tenant.application.id}&from=${YESTERDAY}&to=${YESTERDAY}&metric=spend&by=campaign`;
  expect(posts).toEqual([
    [
      'Test game · Alert: Spend by campaign over the last day is above $50.00',
      `Summer: $80.00 on ${YESTERDAY}, above $50.00.`,
      path,
    ].join('\n'),
  ]);
  await run(NOW + HOUR);
  expect(posts).toHaveLength(1);
  await spend(tenant, YESTERDAY, 'Winter', 60);
  await run(NOW + 2 * HOUR);
  expect(posts.at(-1)).toContain(`\nWinter: $60.00 on ${YESTERDAY}, above $50.00.\n`);
  await spend(tenant, YESTERDAY, 'Summer', 10);
  await run(NOW + 3 * HOUR);
  expect(posts).toHaveLength(3);
  expect(posts.at(-1)).toContain(`Resolved: Spend by campaign`);
  expect(posts.at(-1)).toContain(`\nSummer: $10.00 on ${YESTERDAY}, not above $50.00.\n`);
  expect((await listAlerts(db, tenant.application.id))[0]?.firingSince).toBe(NOW + 2 * HOUR);
});

it('keeps names from right to left apart from what its sentences say of them', async () => {
  const tenant = await createTenant({ name: 'משחק 2' });
  await addChannel(tenant);
  await createCreative(worker, tenant, { campaign: 'إعلان (1)' });
  const id = await env.DB.prepare('SELECT id FROM campaigns WHERE application_id = ?')
    .bind(tenant.application.id)
    .first<string>('id');
  const rules = [ruleOf({ group_by: 'campaign' }), ruleOf({ filters: { campaign_id: [id] } })];
  for (const rule of rules)
    await createAlert(callerFor(tenant), tenant.application, { kind: 'metric', rule });
  await spend(tenant, YESTERDAY, 'إعلان (1)', 80);
  await run(NOW);
  const [game, campaign] = ['\u2068משחק 2\u2069', '\u2068إعلان (1)\u2069'];
  const lines = posts.map((text) => text.split('\n').slice(0, 2));
  expect(lines.sort()).toEqual([
    [
      `${game} · Alert: Spend by campaign over the last day is above $50.00`,
      `${campaign}: $80.00 on ${YESTERDAY}, above $50.00.`,
    ],
    [
      `${game} · Alert: Spend of ${campaign} over the last day is above $50.00`,
      `${campaign}: $80.00 on ${YESTERDAY}, above $50.00.`,
    ],
  ]);
});

it('never fires for a ratio without data', async () => {
  const tenant = await createTenant();
  await addChannel(tenant);
  const rule = ruleOf({ metric: 'roas', condition: 'below', days: 7 });
  await createAlert(callerFor(tenant), tenant.application, { kind: 'metric', rule });
  await run(NOW);
  expect(posts).toEqual([]);
  expect((await listAlerts(db, tenant.application.id))[0]).toMatchObject({
    firingSince: null,
    finding: 'No data, 2026-03-21 to 2026-03-27.',
  });
  await spend(tenant, YESTERDAY, 'Summer', 80);
  await run(NOW + HOUR);
  expect(posts[0]).toContain('All: 0% from 2026-03-21 to 2026-03-27, below 50%.');
});

it.each([
  [{ value: 60, spend: 10, installs: 5 }, {}, true],
  [{ value: 50, spend: 10, installs: 5 }, {}, false],
  [{ value: 60, spend: 10, installs: 5 }, { min_spend: 20 }, null],
  [{ value: 60, spend: 10, installs: 5 }, { min_installs: 6 }, null],
  [{ value: null, spend: 10, installs: 5 }, {}, null],
  [{ value: 60, spend: null, installs: null }, { min_spend: 1 }, null],
])('judges %o with %o as %s', (figures, more, expected) => {
  expect(judge(ruleOf(more), figures)).toBe(expected);
});

slowIt(
  'says in a preview of a day what the evaluation on that day said, whatever was earned and spent later',
  async () => {
    const day = fc.record({ spent: fc.integer({ min: 0, max: 9 }), earned: fc.integer({ min: 0, max: 9 }) });
    await fc.assert(
      fc.asyncProperty(
        fc.array(day, { minLength: 3, maxLength: 5 }),
        fc.constantFrom('roas_blended' as const, 'spend' as const, 'revenue' as const, 'ltv_d1' as const),
        fc.integer({ min: 1, max: 4 }),
        fc.constantFrom({ condition: 'below' }, { condition: 'falls', compared_with: 'previous' }),
        async (days, metric, window, condition) => {
          const tenant = await createTenant();
          const { application } = tenant;
          const rule = ruleOf({ metric, days: window, ...condition });
          const first = addDays(YESTERDAY, 1 - days.length);
          const said = [];
          for (const [index, { spent, earned }] of days.entries()) {
            const today = addDays(first, index);
            await spend(tenant, today, 'Summer', spent);
            await addFigures(env.DB, application.id, 'rollup_daily', [
              { day: today, currency: 'usd', installs: 1, purchase_revenue: earned * 1e9 },
            ]);
            await addFigures(env.DB, application.id, 'cohort_activity', [
              { acquired_day: today, age: 0, active_devices: 1 },
            ]);
            // Devices of every earlier day earn, too.
            await addFigures(
              env.DB,
              application.id,
              'cohort_revenue',
              days.slice(0, index + 1).map((_, at) => ({
                ...{ acquired_day: addDays(first, at), day: today, currency: 'usd' },
                purchase_revenue: earned * 1e9,
              })),
            );
            const now = NOW - (days.length - 1 - index) * 24 * HOUR;
            said.unshift(await evaluateRule(env, application, rule, today, now));
          }
          expect(await previewRule(env, application, rule, days.length, NOW)).toEqual(said);
        },
      ),
      { numRuns: 12 },
    );
  },
);

it.each([
  [{ condition: 'falls' }, 60, 100, true],
  [{ condition: 'falls' }, 140, 100, false],
  [{ condition: 'rises' }, 140, 100, true],
  [{ condition: 'rises' }, 60, 100, false],
  [{ condition: 'changes' }, 60, 100, true],
  [{ condition: 'changes' }, 70, 100, false],
  [{ condition: 'changes' }, 140, 100, true],
  [{ condition: 'falls' }, 0, 100, true],
  [{ condition: 'changes' }, 60, null, null],
  [{ condition: 'changes' }, 60, 0, null],
  [{ condition: 'changes' }, 60, -5, null],
  [{ condition: 'changes' }, null, 100, null],
])('judges %o of %s after %s as %s', (rule, value, before, expected) => {
  const figures = { value, before, spend: null, installs: null };
  expect(judge(ruleOf({ threshold: 30, ...rule }), figures)).toBe(expected);
});

it('takes the mean of earlier periods since the first data', () => {
  expect(meanOf([90, 110, 80, 120], 2)).toBe(100);
  expect(meanOf([100, 0, 50, 0, 0], 2)).toBe(50);
  expect(meanOf([100, null, 50], 2)).toBe(75);
  expect(meanOf([100, 0, 0, 0], 2)).toBeNull();
  expect(meanOf([null, 0], 1)).toBeNull();
});

it.each(['weekdays', 'previous'] as const)(
  'judges a campaign that has stopped by what it spent before, from %s',
  async (compared_with) => {
    const tenant = await createTenant();
    const days = compared_with === 'weekdays' ? [7, 14] : [1];
    for (const back of days) {
      await spend(tenant, addDays(YESTERDAY, -back), 'Summer', 80);
      await spend(tenant, addDays(YESTERDAY, -back), 'Winter', 20);
    }
    await spend(tenant, YESTERDAY, 'Spring', 500);
    const rule = ruleOf({
      condition: 'falls',
      threshold: 30,
      compared_with,
      group_by: 'campaign',
      min_spend: 50,
    });
    const { groups } = await evaluateRule(env, tenant.application, rule, YESTERDAY, NOW);
    expect(groups.map(({ name, value, before, firing }) => [name, value, before, firing]).sort()).toEqual([
      ['Spring', 500, null, null],
      ['Summer', 0, 80, true],
      ['Winter', 0, 20, null],
    ]);
  },
);

it('says how many groups are left out, and judges the largest', async () => {
  const tenant = await createTenant();
  const statements = Array.from({ length: 103 }, (_, index) =>
    env.DB.prepare(
      `INSERT INTO costs (application_id, day, campaign, adset, creative, currency, amount, updated_at)
       VALUES (?, ?, ?, '', '', 'usd', ?, 0)`,
    ).bind(tenant.application.id, YESTERDAY, `C${index}`, (index + 1) * 1e9),
  );
  await env.DB.batch(statements);
  const rule = ruleOf({ group_by: 'campaign' });
  const found = await evaluateRule(env, tenant.application, rule, YESTERDAY, NOW);
  expect([found.groups.length, found.leftOut]).toEqual([100, 3]);
  expect(found.groups.map(({ name }) => name)).not.toContain('C0');
});

it.each([
  [{ metric: 'weather' }, 'metric'],
  [{ metric: 'roas', group_by: 'item' }, 'metric'],
  [{ group_by: 'day' }, 'group_by'],
  [{ days: 31 }, 'days'],
  [{ threshold: '' }, 'threshold'],
])('refuses %o', (rule, path) => {
  const asked = { metric: 'spend', condition: 'above', threshold: 50, days: 1, ...rule };
  expect(MetricRule.safeParse(asked).error?.issues.map((issue) => issue.path[0])).toContain(path);
});

it('previews and creates in the dashboard, and refuses another team’s campaign', async () => {
  const tenant = await createTenant();
  const browser = await signedIn(worker, tenant.team, 'admin');
  const fields = { metric: 'spend', condition: 'above', threshold: '50', days: '1', group_by: 'campaign' };
  await spend(tenant, addDays(new Date().toISOString().slice(0, 10), -1), 'Summer', 80);
  const page = await pageOf(await browser.get(`/alerts/new?${new URLSearchParams(fields)}`));
  expect(page.card('Preview').text).toContain('It would have fired on 1 of the last 30 days.');
  expect(page.card('Preview').text).toContain('Summer');
  expect((await browser.post('/alerts/new', fields)).status).toBe(303);
  const list = await pageOf(await browser.get('/alerts'));
  expect(list.cells('Alerts', 'Alert when')).toEqual([
    ['Spend by campaign over the last day is above $50.00 Checked within a minute'],
  ]);

  const strange = await browser.post('/alerts/new?campaign_id=cmp_of_another_team', fields);
  expect(strange.status).toBe(400);
  const wrong = await browser.post('/alerts/new', { ...fields, days: '99' });
  expect([wrong.status, (await pageOf(wrong)).faults.days]).toEqual([
    400,
    'Over full days must be a whole number from 1 to 30',
  ]);
  const viewer = await signedIn(worker, tenant.team, 'viewer');
  expect((await viewer.post('/alerts/new', fields)).status).toBe(403);
  expect((await viewer.get('/alerts/new')).status).toBe(403);
  expect(await listAlerts(db, tenant.application.id)).toHaveLength(1);
});
