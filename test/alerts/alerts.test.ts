import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { and, eq } from 'drizzle-orm';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import {
  composeDigests,
  createAlert,
  createChannel,
  listAlerts,
  listChannels,
  MetricRule,
  type NewAlert,
  NewChannel,
  removeAlert,
  removeChannel,
  sendNotices,
  sendTestMessage,
  watchAlerts,
} from '#alerts';
import { alerts, applications, channels, cubeParts, database, notices } from '#db';
import type { ApplicationRow } from '#teams';
import worker from '../../src/index.ts';
import { addFigures } from '../helpers/figures.ts';
import { inMinuteOf } from '../helpers/minutes.ts';
import { answerFetch } from '../helpers/strict-fetch.ts';
import { createTenant } from '../helpers/tenant.ts';

const db = database(env.DB);
const HOUR = 3_600_000;
/** A Saturday, so that yesterday is Friday the 27th. */
const NOW = Date.UTC(2026, 2, 28, 9, 30);
const SLACK = 'https://hooks.slack.test.example/services/T/B/x';

type Post = { url: string; text: string };

let posts: Post[];
let answers: (url: string) => Response;

beforeEach(async () => {
  await db.batch([db.delete(alerts), db.delete(channels), db.delete(notices)]);
  posts = [];
  answers = () => new Response('ok');
  answerFetch(async (input, init) => {
    const { text }: { text: string } = JSON.parse(String(init?.body));
    posts.push({ url: String(input), text });
    return answers(String(input));
  });
});

afterEach(() => vi.restoreAllMocks());

const callerFor = ({ teamId }: ApplicationRow) => ({
  db,
  team: { id: teamId },
  actor: 'someone@team.test',
  now: NOW,
});

async function makeChannel(
  application: ApplicationRow,
  channel: { kind?: 'webhook' | 'mail'; target?: string; digest?: 'never' | 'daily' | 'weekly' } = {},
) {
  const made = NewChannel.parse({ kind: 'webhook', target: SLACK, digest: 'never', ...channel });
  await createChannel(
    callerFor(application),
    application,
    made,
    'https://dash.test',
    env.KEY_ENCRYPTION_SECRET,
  );
}

const makeAlert = (application: ApplicationRow, alert: NewAlert) =>
  createAlert(callerFor(application), application, alert);

const onMetric = (rule: object): NewAlert => ({
  kind: 'metric',
  rule: MetricRule.parse({ metric: 'revenue', condition: 'changes', threshold: 30, days: 1, ...rule }),
});
const REVENUE_CHANGES = onMetric({});
const ROAS_BELOW = onMetric({ metric: 'roas', condition: 'below', threshold: 50, days: 7 });
const NO_EVENTS: NewAlert = { kind: 'no_events', threshold: 1 };

/** Sets what an application brought on a day, of all creatives together. */
async function setDay(application: ApplicationRow, day: string, dollars: number, installs = 1) {
  await db
    .delete(cubeParts)
    .where(and(eq(cubeParts.applicationId, application.id), eq(cubeParts.toDay, day)));
  await addFigures(env.DB, application.id, 'rollup_daily', [
    { day, currency: 'usd', installs, purchase_revenue: dollars * 1e9 },
  ]);
}

async function withFridays() {
  const { application } = await createTenant();
  for (const day of ['2026-02-27', '2026-03-06', '2026-03-13', '2026-03-20']) {
    await setDay(application, day, 100);
  }
  return application;
}

async function run(now: number) {
  await watchAlerts(env, now);
  await sendNotices(env, now);
}

it('sends one message when the figure leaves the limit, none while it stays, one when it is back', async () => {
  const application = await withFridays();
  await setDay(application, '2026-03-27', 40);
  await makeChannel(application);
  await makeAlert(application, REVENUE_CHANGES);
  await run(NOW);
  const link = `https://dash.test/breakdown?app=${application.id}&from=2026-03-27&to=2026-03-27&metric=revenue&compare=weekdays&by=day`;
  const textOf = (...lines: string[]) => [...lines, link].join('\n');
  const fired = textOf(
    'Test game · Alert: Revenue over the last day changes by more than 30% from the same weekdays before',
    'All: $40.00 on 2026-03-27, 60% below the mean of the same weekdays before ($100.00).',
  );
  expect(posts).toEqual([{ url: SLACK, text: fired }]);
  for (const hours of [1, 2, 3]) await run(NOW + hours * HOUR);
  expect(posts).toHaveLength(1);
  expect((await listAlerts(db, application.id))[0]?.firingSince).toBe(NOW);

  await setDay(application, '2026-03-27', 95);
  await run(NOW + 4 * HOUR);
  expect(posts).toHaveLength(2);
  expect(posts[1]?.text).toBe(
    textOf(
      'Test game · Resolved: Revenue over the last day changes by more than 30% from the same weekdays before',
      'All: $95.00 on 2026-03-27, 5% below the mean of the same weekdays before ($100.00).',
    ),
  );
  await setDay(application, '2026-03-27', 10);
  await run(NOW + 5 * HOUR);
  expect(posts).toHaveLength(3);
});

it('checks an alert only as often as its answer can change', async () => {
  const application = await withFridays();
  await makeAlert(application, REVENUE_CHANGES);
  await run(NOW);
  const [first] = await listAlerts(db, application.id);
  expect(first?.nextCheckAt).toBe(NOW + HOUR);
  await setDay(application, '2026-03-27', 1);
  await run(NOW + 30 * 60_000);
  expect((await listAlerts(db, application.id))[0]).toEqual(first);
});

it('sends once, however many runs check at the same time', async () => {
  const application = await withFridays();
  await makeChannel(application);
  await makeAlert(application, REVENUE_CHANGES);
  await Promise.all([watchAlerts(env, NOW), watchAlerts(env, NOW), watchAlerts(env, NOW)]);
  await Promise.all([sendNotices(env, NOW), sendNotices(env, NOW)]);
  expect(posts).toHaveLength(1);
});

it('keeps its state while the figure is unknown', async () => {
  const { application } = await createTenant();
  await makeChannel(application);
  await makeAlert(application, ROAS_BELOW);
  await makeAlert(application, NO_EVENTS);
  await makeAlert(application, REVENUE_CHANGES);
  await run(NOW);
  const found = await listAlerts(db, application.id);
  expect(found.map(({ firingSince }) => firingSince)).toEqual([null, null, null]);
  expect(found.map(({ finding }) => finding)).toEqual([
    'No data, 2026-03-21 to 2026-03-27.',
    'No event has arrived yet.',
    'Too few earlier days to compare with, 2026-03-27.',
  ]);
  expect(found.map(({ isKnown }) => isKnown)).toEqual([false, false, false]);
  expect(posts).toEqual([]);
});

it('watches installs, and campaigns that spend without installs', async () => {
  const application = await withFridays();
  await setDay(application, '2026-03-27', 100, 9);
  await env.DB.prepare(
    `INSERT INTO costs (application_id, day, campaign, adset, creative, currency, amount, updated_at)
     VALUES (?1, '2026-03-27', 'Summer', '', '', 'usd', 45000000000, 0)`,
  )
    .bind(application.id)
    .run();
  await makeChannel(application);
  await makeAlert(application, onMetric({ metric: 'installs', threshold: 500 }));
  const idle = { metric: 'installs', condition: 'below', threshold: 1, group_by: 'campaign', min_spend: 20 };
  await makeAlert(application, onMetric(idle));
  await run(NOW);
  expect(posts.map(({ text }) => text.split('\n')[1]).sort()).toEqual([
    'All: 9 on 2026-03-27, 800% above the mean of the same weekdays before (1).',
    'Summer: 0 on 2026-03-27, below 1.',
  ]);
});

it('checks the other alerts when one fails, and retries that one ten minutes later', async () => {
  const broken = await withFridays();
  const application = await withFridays();
  await makeChannel(application);
  // No report can be made of days in a time zone that does not exist.
  await db.update(applications).set({ timezone: 'Nowhere/Land' }).where(eq(applications.id, broken.id));
  await makeAlert(broken, ROAS_BELOW);
  await makeAlert(application, REVENUE_CHANGES);
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  await watchAlerts(env, NOW);
  await sendNotices(env, NOW);
  expect(posts).toHaveLength(1);
  expect((await listAlerts(db, broken.id))[0]).toMatchObject({
    finding: null,
    nextCheckAt: NOW + 10 * 60_000,
  });
});

it('checks at most 20 alerts per run, the longest due first', async () => {
  const { application } = await createTenant();
  for (let index = 0; index < 25; index++) await makeAlert(application, ROAS_BELOW);
  await watchAlerts(env, NOW);
  const checked = async () =>
    (await listAlerts(db, application.id)).filter(({ finding }) => finding !== null).length;
  expect(await checked()).toBe(20);
  await watchAlerts(env, NOW);
  expect(await checked()).toBe(25);
});

it('stores a failure with its channel, retries at growing intervals, and gives up after eight attempts', async () => {
  const { application } = await createTenant();
  await makeChannel(application);
  const [channel] = await listChannels(db, application.id);
  await sendTestMessage(db, application, channel?.id ?? '', NOW);
  answers = () => new Response('no such hook', { status: 404 });
  let now = NOW;
  for (let attempt = 1; attempt <= 8; attempt++) {
    await sendNotices(env, now);
    expect(posts).toHaveLength(attempt);
    expect((await listChannels(db, application.id))[0]).toMatchObject({
      failure: 'The webhook answered with status 404',
      failedAt: now,
    });
    const wait = 60_000 * 2 ** (attempt - 1);
    await sendNotices(env, now + wait - 1);
    expect(posts).toHaveLength(attempt);
    now += wait;
  }
  await sendNotices(env, now);
  expect(posts).toHaveLength(8);
  expect(await db.$count(notices)).toBe(0);

  answers = () => new Response('ok');
  await sendTestMessage(db, application, channel?.id ?? '', now);
  await sendNotices(env, now);
  expect((await listChannels(db, application.id))[0]).toMatchObject({ failure: null, failedAt: null });
});

it('follows no redirect, and gives up on a receiver that does not respond', async () => {
  const { application } = await createTenant();
  await makeChannel(application);
  await makeChannel(application, { target: 'https://second.example/hook' });
  for (const { id } of await listChannels(db, application.id))
    await sendTestMessage(db, application, id, NOW);
  answers = (url) => {
    if (url === SLACK) throw new Error('the connection was lost');
    return new Response(null, { status: 302, headers: { Location: 'https://10.0.0.1/' } });
  };
  await sendNotices(env, NOW);
  expect(posts).toHaveLength(2);
  expect(vi.mocked(fetch).mock.calls.map(([, init]) => init?.redirect)).toEqual(['manual', 'manual']);
  expect((await listChannels(db, application.id)).map(({ failure }) => failure).sort()).toEqual([
    'The webhook answered with status 302',
    'the connection was lost',
  ]);
});

it('sends email if the deployment has a binding and a sender, and reports if it does not', async () => {
  const { application } = await createTenant();
  await makeChannel(application, { kind: 'mail', target: 'boss@team.test' });
  const [channel] = await listChannels(db, application.id);
  await sendTestMessage(db, application, channel?.id ?? '', NOW);
  await sendNotices(env, NOW);
  expect((await listChannels(db, application.id))[0]?.failure).toBe('Email is not set up on this deployment');
  const sent: unknown[] = [];
  const MAIL = { send: async (message: unknown) => sent.push(message) };
  const mailing = { ...env, MAIL, MAIL_FROM: 'alerts@team.test' } as unknown as Env;
  await sendNotices(mailing, NOW + 60_000);
  expect(sent).toEqual([
    {
      to: 'boss@team.test',
      from: 'alerts@team.test',
      subject: 'Test game · Test message',
      text: `Test game · Test message\nAlerts and digests of Test game will arrive here.\nhttps://dash.test/alerts?app=${application.id}`,
      html: expect.stringContaining('Alerts and digests of Test game will arrive here.'),
    },
  ]);
  expect((await listChannels(db, application.id))[0]?.failure).toBeNull();
});

it('sends a digest at eight in the morning, with the figures of the day before and their change', async () => {
  const application = await withFridays();
  await setDay(application, '2026-03-27', 150, 3);
  await makeChannel(application, { digest: 'daily' });
  await makeChannel(application, { digest: 'weekly', target: 'https://second.example/hook' });
  await composeDigests(env, NOW);
  expect(await db.$count(notices)).toBe(0);

  const morning = Date.UTC(2026, 2, 28, 8) + 24 * HOUR;
  await setDay(application, '2026-03-28', 50, 2);
  await setDay(application, '2026-03-21', 100, 1);
  await composeDigests(env, morning);
  await composeDigests(env, morning);
  await sendNotices(env, morning);
  expect(posts.map(({ url, text }) => [url, ...text.split('\n')])).toEqual([
    [
      SLACK,
      ...[
        'Test game · Saturday, 2026-03-28',
        'Revenue: $50.00 (−66.7%, −50%)',
        'Installs: 2 (−33.3%, +100%)',
        'DAU: 0',
        'Spend: $0.00',
        expect.stringMatching(/^CPI: /),
        'ROAS so far: –',
        'In parentheses: the change from the day before and from Saturday a week before.',
        `https://dash.test/?app=${application.id}&from=2026-03-28&to=2026-03-28`,
      ],
    ],
  ]);
  const next = (await listChannels(db, application.id)).map(({ nextDigestAt }) => nextDigestAt);
  expect(next).toEqual([morning + 24 * HOUR, Date.UTC(2026, 2, 30, 8)]);
  await composeDigests(env, Date.UTC(2026, 2, 30, 8));
  await sendNotices(env, Date.UTC(2026, 2, 30, 8));
  const lines = posts.at(-1)?.text.split('\n') ?? [];
  expect(lines.slice(0, 2)).toEqual(['Test game · 2026-03-23 to 2026-03-29', 'Revenue: $200.00 (±0%)']);
  expect(lines).toContain('In parentheses: the change from the week before.');
});

it('is run by the cron of every minute', async () => {
  const application = await withFridays();
  await makeChannel(application);
  const [channel] = await listChannels(db, application.id);
  await sendTestMessage(db, application, channel?.id ?? '', NOW);
  const ctx = createExecutionContext();
  await worker.scheduled(inMinuteOf('chores'), env);
  await waitOnExecutionContext(ctx);
  expect(posts.map(({ url }) => url)).toEqual([SLACK]);
});

it('lists, removes and tests only an application’s own alerts and channels', async () => {
  const [{ application: own }, { application: other }] = [await createTenant(), await createTenant()];
  for (const application of [own, other]) {
    await makeAlert(application, REVENUE_CHANGES);
    await makeChannel(application, { target: `${SLACK}${application.id}` });
  }
  const [alert, ...moreAlerts] = await listAlerts(db, other.id);
  const [channel, ...moreChannels] = await listChannels(db, other.id);
  expect([alert?.applicationId, moreAlerts]).toEqual([other.id, []]);
  expect([channel?.applicationId, moreChannels]).toEqual([other.id, []]);
  const caller = callerFor(own);
  const notFound = { code: 'not_found' };
  await expect(removeAlert(caller, own, alert?.id ?? '')).rejects.toMatchObject(notFound);
  await expect(removeChannel(caller, own, channel?.id ?? '')).rejects.toMatchObject(notFound);
  await expect(sendTestMessage(db, own, channel?.id ?? '', NOW)).rejects.toMatchObject(notFound);
  expect(await db.$count(notices)).toBe(0);
  await removeAlert(callerFor(other), other, alert?.id ?? '');
  await removeChannel(callerFor(other), other, channel?.id ?? '');
  expect([await listAlerts(db, own.id), await listAlerts(db, other.id)]).toMatchObject([[{}], []]);
  expect([await listChannels(db, own.id), await listChannels(db, other.id)]).toMatchObject([[{}], []]);
});

it('sends a message of one application to its own channels only', async () => {
  const application = await withFridays();
  await setDay(application, '2026-03-27', 40);
  await makeAlert(application, REVENUE_CHANGES);
  await makeChannel(application);
  await makeChannel((await createTenant()).application, {
    target: 'https://hooks.slack.test.example/services/X/Y/z',
  });
  await run(NOW);
  expect(posts.map(({ url }) => url)).toEqual([SLACK]);
});

it('keeps the failure of a channel when another one succeeds', async () => {
  const { application } = await createTenant();
  const broken = `${SLACK}broken`;
  for (const target of [broken, SLACK]) await makeChannel(application, { target });
  const [first, second] = await listChannels(db, application.id);
  answers = (url) => new Response('', { status: url === broken ? 500 : 200 });
  await sendTestMessage(db, application, first?.id ?? '', NOW);
  await sendNotices(env, NOW);
  await sendTestMessage(db, application, second?.id ?? '', NOW);
  await sendNotices(env, NOW);
  expect((await listChannels(db, application.id)).map(({ failure }) => failure)).toEqual([
    'The webhook answered with status 500',
    null,
  ]);
  answers = () => new Response('ok');
  await sendNotices(env, NOW + HOUR);
  expect((await listChannels(db, application.id)).map(({ failure }) => failure)).toEqual([null, null]);
});

it('checks an alert once, however many runs are due at the same time', async () => {
  const application = await withFridays();
  await makeAlert(application, REVENUE_CHANGES);
  let started = 0;
  const reads = vi.fn();
  // Both runs have begun before either finishes its first check.
  const DB = new Proxy(env.DB, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      if (name === 'prepare') {
        return (query: string) => {
          if (/FROM .?applications/i.test(query) && !/update/i.test(query)) reads(++started);
          return target.prepare(query);
        };
      }
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  await Promise.all([watchAlerts({ ...env, DB }, NOW), watchAlerts({ ...env, DB }, NOW)]);
  expect(reads).toHaveBeenCalledTimes(1);
});
