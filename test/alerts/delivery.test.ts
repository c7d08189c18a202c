import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import {
  composeDigests,
  createAlert,
  createChannel,
  MetricRule,
  type NewAlert,
  NewChannel,
  sendNotices,
  watchAlerts,
} from '#alerts';
import { alerts, channels, database, notices } from '#db';
import { createCreative } from '../helpers/creatives.ts';
import { envelope } from '../helpers/envelopes.ts';
import { putCosts } from '../helpers/money.ts';
import { Page } from '../helpers/page.ts';
import { settleAll } from '../helpers/settle.ts';
import { answerFetch } from '../helpers/strict-fetch.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

// Alerts and digests from events and costs to what arrives at a webhook and in a mailbox.

const worker = startWorker();
const db = database(env.DB);
const HOUR = 3_600_000;
/** Eight in the morning of Monday the 30th in Tokyo, where it is still Sunday in UTC. */
const MORNING = Date.UTC(2026, 2, 29, 23);

type Mail = { to: string; from: string; subject: string; text: string; html: string };

let texts: string[];
let mails: Mail[];
let mailing: Env;

beforeEach(async () => {
  await db.batch([db.delete(alerts), db.delete(channels), db.delete(notices)]);
  texts = [];
  mails = [];
  const MAIL = { send: async (mail: Mail) => mails.push(mail) };
  mailing = { ...env, MAIL, MAIL_FROM: 'alerts@team.test' } as unknown as Env;
  answerFetch(async (_, init) => {
    texts.push((JSON.parse(String(init?.body)) as { text: string }).text);
    return new Response('ok');
  });
});

afterEach(() => vi.restoreAllMocks());

const callerOf = ({ team }: Tenant) => ({ db, team, actor: 'someone@team.test', now: MORNING - HOUR });

async function addChannel(tenant: Tenant, kind: 'webhook' | 'mail', digest: 'never' | 'daily' | 'weekly') {
  const target = kind === 'mail' ? 'boss@team.test' : 'https://hooks.example.com/x';
  const channel = NewChannel.parse({ kind, target, digest });
  await createChannel(
    callerOf(tenant),
    tenant.application,
    channel,
    'https://dash.test',
    env.KEY_ENCRYPTION_SECRET,
  );
}

/** Sends a device of a creative, or an organic one, and what it buys on days at noon in Tokyo. */
async function play(tenant: Tenant, link: string | null, acquired: string, bought: Record<string, number>) {
  const token = await fetchToken(worker, tenant, {
    created_at: `${acquired}T03:00:00.000Z`,
    data: link ? { creative_token: link } : {},
  });
  for (const [day, value] of Object.entries(bought)) {
    const purchase = envelope.purchase(token, { created_at: `${day} 03:00:00` }, { value, currency: 'eur' });
    expect((await worker.post(tenant, '/webhook', purchase)).status).toBe(200);
  }
  await worker.deliver(worker.queue.take());
  await settleAll(tenant.application.id);
}

const inTokyo = () => createTenant({ timezone: 'Asia/Tokyo', currency: 'eur' });

it('writes a name with line breaks, stored by an earlier version, in one line', async () => {
  const tenant = await createTenant({
    timezone: 'Asia/Tokyo',
    name: 'Game\r\nBcc: all@team.test\u2028\u0007',
  });
  for (const kind of ['webhook', 'mail'] as const) await addChannel(tenant, kind, 'weekly');
  await composeDigests(mailing, MORNING);
  await sendNotices(mailing, MORNING);
  const name = 'Game Bcc: all@team.test ';
  expect(mails.map(({ subject }) => subject)).toEqual([`${name}: weekly digest, 2026-03-23 to 2026-03-29`]);
  expect(mails[0]?.text.split('\n')[0]).toBe(`${name} · 2026-03-23 to 2026-03-29`);
  expect(texts.map((text) => text.split('\n')[0])).toEqual([
    `${name.replace('@', '@\u200b')} · 2026-03-23 to 2026-03-29`,
  ]);
});

it('sends the daily and the weekly digest to a webhook and by mail, in the time zone and currency of the application', async () => {
  const tenant = await inTokyo();
  const { token: link } = await createCreative(worker, tenant, { campaign: 'Spring & <Co>' });
  await play(tenant, link, '2026-03-29', { '2026-03-29': 6 });
  await play(tenant, null, '2026-03-28', { '2026-03-28': 4 });
  await play(tenant, null, '2026-03-22', { '2026-03-22': 8 });
  const costs = { campaign: 'Spring & <Co>', currency: 'eur' };
  await putCosts(worker, tenant, [{ ...costs, date: '2026-03-29', amount: 3 }]);
  for (const kind of ['webhook', 'mail'] as const) {
    await addChannel(tenant, kind, 'daily');
    await addChannel(tenant, kind, 'weekly');
  }
  await composeDigests(mailing, MORNING - 1);
  expect(await db.$count(notices)).toBe(0);
  await composeDigests(mailing, MORNING);
  await sendNotices(mailing, MORNING);

  const app = tenant.application.id;
  const [daily = '', weekly = ''] = texts.sort(
    (left, right) => right.indexOf('Sunday') - left.indexOf('Sunday'),
  );
  expect(daily.split('\n')).toEqual([
    'Test game · Sunday, 2026-03-29',
    'Revenue: €6.00 (+50%, −25%)',
    'Installs: 1 (±0%, ±0%)',
    'DAU: 1 (±0%, ±0%)',
    'Spend: €3.00 (+€3.00, +€3.00)',
    'CPI: €3.00',
    'ROAS so far: 200%',
    'In parentheses: the change from the day before and from Sunday a week before.',
    'Top campaigns by revenue: Spring &amp; &lt;Co&gt; (€6.00).',
    `https://dash.test/?app=${app}&from=2026-03-29&to=2026-03-29`,
  ]);
  expect(weekly.split('\n').slice(0, 3)).toEqual([
    'Test game · 2026-03-23 to 2026-03-29',
    'Revenue: €10.00 (+25%)',
    'Installs: 2 (+100%)',
  ]);

  expect(mails.map(({ to, from, subject }) => [to, from, subject]).sort()).toEqual([
    ['boss@team.test', 'alerts@team.test', 'Test game: daily digest, Sunday, 2026-03-29'],
    ['boss@team.test', 'alerts@team.test', 'Test game: weekly digest, 2026-03-23 to 2026-03-29'],
  ]);
  const mail = mails.find(({ subject }) => subject.includes('daily'));
  expect(mail?.text.split('\n')[8]).toBe('Top campaigns by revenue: Spring & <Co> (€6.00).');
  const page = new Page(mail?.html ?? '');
  expect(page.all('tbody tr').map((row) => new Page(row).texts('th, td').join(' '))).toEqual([
    'Revenue €6.00 +50% −25%',
    'Installs 1 ±0% ±0%',
    'DAU 1 ±0% ±0%',
    'Spend €3.00 +€3.00 +€3.00',
    'CPI €3.00 – –',
    'ROAS so far 200% – –',
  ]);
  expect(page.link('Open the overview of these days')).toBe(
    `https://dash.test/?app=${app}&from=2026-03-29&to=2026-03-29`,
  );
});

const onMetric = (rule: object): NewAlert => ({
  kind: 'metric',
  rule: MetricRule.parse({ days: 7, ...rule }),
});
const WEEK = 'from 2026-03-23 to 2026-03-29';

/** Adds an alert, makes it fire and resolve, and answers the lines of both messages without their link. */
async function fireAndResolve(
  tenant: Tenant,
  alert: NewAlert,
  resolve: () => Promise<unknown>,
  nowOf: () => number = () => MORNING,
) {
  await addChannel(tenant, 'webhook', 'never');
  await createAlert(callerOf(tenant), tenant.application, alert);
  const check = async (now: number) => {
    await db.update(alerts).set({ nextCheckAt: 0 });
    await watchAlerts(env, now);
    await sendNotices(env, now);
  };
  await check(nowOf());
  await resolve();
  await check(nowOf() + 1);
  await check(nowOf() + 2);
  for (const text of texts) {
    const page = alert.kind === 'metric' ? 'breakdown' : 'alerts';
    expect(text.split('\n')[2]).toContain(`https://dash.test/${page}?app=${tenant.application.id}`);
  }
  return texts.map((text) => text.split('\n').slice(0, 2));
}

/** An install of a campaign that earned €1 on Sunday, whose costs were €5. */
async function withCampaign() {
  const tenant = await inTokyo();
  const { token } = await createCreative(worker, tenant, { campaign: 'Spring' });
  await play(tenant, token, '2026-03-29', { '2026-03-29': 1 });
  const spend = (amount: number, campaign = 'Spring') =>
    putCosts(worker, tenant, [{ date: '2026-03-29', campaign, currency: 'eur', amount }]);
  await spend(5);
  return { tenant, spend };
}

it('fires and resolves by CPI', async () => {
  const { tenant, spend } = await withCampaign();
  const alert = onMetric({ metric: 'cpi', condition: 'above', threshold: 2 });
  expect(await fireAndResolve(tenant, alert, () => spend(1))).toEqual([
    ['Test game · Alert: CPI over the last 7 days is above €2.00', `All: €5.00 ${WEEK}, above €2.00.`],
    ['Test game · Resolved: CPI over the last 7 days is above €2.00', `All: €1.00 ${WEEK}, not above €2.00.`],
  ]);
});

it('fires and resolves by ROAS', async () => {
  const { tenant, spend } = await withCampaign();
  const alert = onMetric({ metric: 'roas', condition: 'below', threshold: 50 });
  expect(await fireAndResolve(tenant, alert, () => spend(1))).toEqual([
    ['Test game · Alert: ROAS over the last 7 days is below 50%', `All: 20% ${WEEK}, below 50%.`],
    ['Test game · Resolved: ROAS over the last 7 days is below 50%', `All: 100% ${WEEK}, not below 50%.`],
  ]);
});

it('fires and resolves by spend without installs', async () => {
  const { tenant, spend } = await withCampaign();
  const { token: silent } = await createCreative(worker, tenant, { campaign: 'Silent' });
  await spend(30, 'Silent');
  const idle = { condition: 'below', threshold: 1, days: 1, group_by: 'campaign', min_spend: 20 };
  const alert = onMetric({ metric: 'installs', ...idle });
  const messages = await fireAndResolve(tenant, alert, () =>
    play(tenant, silent, '2026-03-29', { '2026-03-29': 1 }),
  );
  expect(messages).toEqual([
    [
      'Test game · Alert: Installs by campaign over the last day is below 1, with at least €20.00 of spend',
      'Silent: 0 on 2026-03-29, below 1.',
    ],
    [
      'Test game · Resolved: Installs by campaign over the last day is below 1, with at least €20.00 of spend',
      'Silent: 1 on 2026-03-29, not below 1.',
    ],
  ]);
});

it.each(['revenue', 'installs'] as const)('fires and resolves by a change of %s', async (metric) => {
  const tenant = await inTokyo();
  for (const day of ['2026-03-08', '2026-03-15', '2026-03-22']) await play(tenant, null, day, { [day]: 10 });
  const messages = await fireAndResolve(
    tenant,
    onMetric({ metric, condition: 'changes', threshold: 30, days: 1 }),
    () => play(tenant, null, '2026-03-29', { '2026-03-29': 10 }),
  );
  const [label, usual, nothing] = {
    revenue: ['Revenue', '€10.00', '€0.00'],
    installs: ['Installs', '1', '0'],
  }[metric] as [string, string, string];
  const text = `${label} over the last day changes by more than 30% from the same weekdays before`;
  const mean = `the mean of the same weekdays before (${usual})`;
  expect(messages).toEqual([
    [`Test game · Alert: ${text}`, `All: ${nothing} on 2026-03-29, 100% below ${mean}.`],
    [`Test game · Resolved: ${text}`, `All: ${usual} on 2026-03-29, equal to ${mean}.`],
  ]);
});

it('fires when no events arrive, and resolves with the next', async () => {
  const tenant = await inTokyo();
  await play(tenant, null, '2026-03-29', { '2026-03-29': 1 });
  // The counter notes the real time of arrival.
  let later = 2 * HOUR;
  const messages = await fireAndResolve(
    tenant,
    { kind: 'no_events', threshold: 1 },
    async () => {
      later = 0;
      await play(tenant, null, '2026-03-29', { '2026-03-29': 1 });
    },
    () => Date.now() + later,
  );
  expect(messages).toEqual([
    [
      'Test game · Alert: No events arrive for 1 hour',
      expect.stringMatching(/^No event has arrived since [\d-]+ [\d:]+ \(Asia\/Tokyo\)\.$/),
    ],
    [
      'Test game · Resolved: No events arrive for 1 hour',
      expect.stringMatching(/^The last event arrived at [\d-]+ [\d:]+ \(Asia\/Tokyo\)\.$/),
    ],
  ]);
});
