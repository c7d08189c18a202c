import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import {
  type AlertKind,
  composeDigests,
  createAlert,
  createChannel,
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
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (_, init) => {
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
    'Spend: €3.00',
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
    'Spend €3.00 – –',
    'CPI €3.00 – –',
    'ROAS so far 200% – –',
  ]);
  expect(page.link('Open the overview of these days')).toBe(
    `https://dash.test/?app=${app}&from=2026-03-29&to=2026-03-29`,
  );
});

/** Adds an alert, makes it fire and resolve, and answers the lines of both messages without their link. */
async function fireAndResolve(
  tenant: Tenant,
  [kind, threshold]: readonly [AlertKind, number],
  resolve: () => Promise<unknown>,
  nowOf: () => number = () => MORNING,
) {
  await addChannel(tenant, 'webhook', 'never');
  await createAlert(callerOf(tenant), tenant.application, { kind, threshold });
  const check = async (now: number) => {
    await db.update(alerts).set({ nextCheckAt: 0 });
    await watchAlerts(env, now);
    await sendNotices(env, now);
  };
  await check(nowOf());
  await resolve();
  await check(nowOf() + 1);
  await check(nowOf() + 2);
  for (const text of texts)
    expect(text.split('\n')[2]).toBe(`https://dash.test/alerts?app=${tenant.application.id}`);
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
  expect(await fireAndResolve(tenant, ['cpi_above', 2], () => spend(1))).toEqual([
    ['Test game · Alert: CPI is above €2.00', 'CPI of the last seven days is €5.00, above €2.00.'],
    ['Test game · Resolved: CPI is above €2.00', 'CPI of the last seven days is €1.00, not above €2.00.'],
  ]);
});

it('fires and resolves by ROAS', async () => {
  const { tenant, spend } = await withCampaign();
  expect(await fireAndResolve(tenant, ['roas_below', 50], () => spend(1))).toEqual([
    ['Test game · Alert: ROAS is below 50%', 'ROAS of the last seven days is 20%, below 50%.'],
    ['Test game · Resolved: ROAS is below 50%', 'ROAS of the last seven days is 100%, not below 50%.'],
  ]);
});

it('fires and resolves by spend without installs', async () => {
  const { tenant, spend } = await withCampaign();
  await spend(30, 'Silent');
  const messages = await fireAndResolve(tenant, ['spend_without_installs', 20], () => spend(10, 'Silent'));
  expect(messages).toEqual([
    [
      'Test game · Alert: A campaign has no installs and spends more than €20.00',
      'Spend without installs on 2026-03-29: Silent (€30.00).',
    ],
    [
      'Test game · Resolved: A campaign has no installs and spends more than €20.00',
      'On 2026-03-29 no campaign spent more than €20.00 without installs.',
    ],
  ]);
});

it.each(['revenue_change', 'installs_change'] as const)('fires and resolves by %s', async (kind) => {
  const tenant = await inTokyo();
  for (const day of ['2026-03-08', '2026-03-15', '2026-03-22']) await play(tenant, null, day, { [day]: 10 });
  const messages = await fireAndResolve(tenant, [kind, 30], () =>
    play(tenant, null, '2026-03-29', { '2026-03-29': 10 }),
  );
  const [label, fired, resolved] = {
    revenue_change: [
      'Revenue differs by more than 30%',
      'was €0.00, 100% below the mean of the last 3 Sundays (€10.00)',
      'was €10.00, equal to the mean of the last 3 Sundays',
    ],
    installs_change: [
      'Installs differ by more than 30%',
      'were 0, 100% below the mean of the last 3 Sundays (1)',
      'were 1, equal to the mean of the last 3 Sundays',
    ],
  }[kind] as [string, string, string];
  const name = label.split(' ')[0];
  expect(messages).toEqual([
    [`Test game · Alert: ${label}`, `${name} on Sunday, 2026-03-29, ${fired}.`],
    [`Test game · Resolved: ${label}`, `${name} on Sunday, 2026-03-29, ${resolved}.`],
  ]);
});

it('fires when no events arrive, and resolves with the next', async () => {
  const tenant = await inTokyo();
  await play(tenant, null, '2026-03-29', { '2026-03-29': 1 });
  // The counter notes the real time of arrival.
  let later = 2 * HOUR;
  const messages = await fireAndResolve(
    tenant,
    ['no_events', 1],
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
