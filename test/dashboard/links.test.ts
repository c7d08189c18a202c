import { env } from 'cloudflare:workers';
import { and, eq } from 'drizzle-orm';
import { beforeAll, expect, it } from 'vitest';
import { composeDigests, watchAlerts } from '#alerts';
import { alerts, channels, database, notices } from '#db';
import { dayIn } from '#lib/time';
import { Message, toText } from '../../src/alerts/message.ts';
import { withDays } from '../../src/dashboard/shell/dates.ts';
import { Page, pageOf } from '../helpers/page.ts';
import { type Browser, ORIGIN, signedIn } from '../helpers/person.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { slowIt } from '../helpers/thorough.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

// Alerts, digests and Health link to pages of the application that they are about, which need not be the team's first one.

const worker = startWorker({ SIGN_IN_LIMIT: { limit: async () => ({ success: true }) } });
const HOUR_MS = 3_600_000;

let tenant: Tenant;
let admin: Browser;
/** The second application of the team, which has been silent. */
let silent: { id: string; name: string };

beforeAll(async () => {
  tenant = await createTenant();
  admin = await signedIn(worker, tenant.team, 'admin');
  const made = await worker.team(tenant, '/v1/applications', {
    method: 'POST',
    body: { name: 'Silent game', timezone: 'UTC' },
  });
  const { id, name, api_key } = await made.json<{ id: string; name: string; api_key: string }>();
  silent = { id, name };
  await fetchToken(worker, { apiKey: api_key });
  await worker.deliver(worker.queue.take());
  const at = `?app=${id}`;
  expect((await admin.post(`/alerts/new${at}`, { metric: 'no_events', threshold: '1' })).status).toBe(303);
  const channel = {
    channel_kind: 'webhook',
    target: 'https://hooks.example.com/T/B/secret',
    digest: 'daily',
  };
  expect((await admin.post(`/alerts/channels${at}`, channel)).status).toBe(303);
  await watchAlerts(env, Date.now() + 3 * HOUR_MS);
  await composeDigests(env, Date.now() + 48 * HOUR_MS);
});

/** Opens a link of a page or message. */
async function follow(href: string): Promise<Page> {
  const answer = await admin.get(href.replace(ORIGIN, ''));
  expect([href, answer.status]).toEqual([href, 200]);
  return pageOf(answer);
}

/** The page's title and application, to which its navigation leads. */
const whereIs = (page: Page) => [
  page.one('h1').text,
  new URL(page.link('Creatives'), ORIGIN).searchParams.get('app'),
];

/** The texts of the messages on their way. */
async function messages(kind: 'alert' | 'digest') {
  const rows = await database(env.DB)
    .select({ body: notices.body, origin: channels.origin, id: notices.id })
    .from(notices)
    .innerJoin(channels, eq(channels.id, notices.channelId))
    .where(and(eq(channels.applicationId, silent.id)));
  return rows
    .filter(({ id }) => id.startsWith('digest:') === (kind === 'digest'))
    .map(({ body, origin }) => toText(Message.parse(JSON.parse(body)), origin));
}

it('leads from an alert’s message to the alerts of its application, which say the same', async () => {
  const [message, ...others] = await messages('alert');
  expect(others).toEqual([]);
  const [href = ''] = /https:\S+/.exec(message ?? '') ?? [];
  expect(href).toBe(`${ORIGIN}/alerts?app=${silent.id}`);
  const page = await follow(href);
  expect(whereIs(page)).toEqual(['Alerts', silent.id]);
  const [alert] = await database(env.DB).select().from(alerts).where(eq(alerts.applicationId, silent.id));
  expect(message?.split('\n').slice(0, 2)).toEqual([
    `${silent.name} · Alert: No events arrive for 1 hour`,
    alert?.finding,
  ]);
  expect(page.cells('Alerts', 'Alert when')).toEqual([
    [`No events arrive for 1 hour ${withDays(alert?.finding ?? '', dayIn('UTC', Date.now()))} See Health`],
  ]);
  expect(page.all('.badge.bad')).toHaveLength(1);
});

it('leads from a digest to the overview of its application and day', async () => {
  const [digest] = await messages('digest');
  const [href = ''] = /https:\S+/.exec(digest ?? '') ?? [];
  const { pathname, searchParams } = new URL(href);
  expect([pathname, searchParams.get('app')]).toEqual(['/', silent.id]);
  const page = await follow(href);
  expect(whereIs(page)).toEqual(['Overview', silent.id]);
  const days = ['from', 'to'];
  expect(days.map((name) => page.value(name))).toEqual(days.map((name) => searchParams.get(name)));
});

it('leads from a firing alert on the overview to Health and to the alerts of the same application', async () => {
  const overview = await follow(`/?app=${silent.id}`);
  expect(overview.notices).toEqual([
    expect.stringMatching(/^No events arrive for 1 hour \(started \d+ s ago\): see Health All alerts$/),
  ]);
  const health = await follow(overview.link('see Health'));
  expect([...whereIs(health), health.cards[0]]).toEqual(['Health', silent.id, 'Event pipeline']);
  const listed = await follow(overview.link('All alerts'));
  expect(whereIs(listed)).toEqual(['Alerts', silent.id]);
  expect(listed.cells('Alerts', 'Alert when')).toEqual([
    [expect.stringMatching(/^No events arrive for 1 hour No event .* See Health$/)],
  ]);
  // The first application of the team is not silent.
  expect((await follow('/')).notices).toEqual([]);
});

it('leads from the list of alerts to Health of the same application', async () => {
  const list = await follow(`/alerts?app=${silent.id}`);
  expect(whereIs(await follow(list.link('See Health')))).toEqual(['Health', silent.id]);
});

slowIt('has no broken link on the alerts, Health and the overview', async () => {
  const hrefs = new Set<string>();
  for (const path of ['/alerts', '/status', '/']) {
    const page = await follow(`${path}?app=${silent.id}`);
    const own = [...page.links.values()].filter((href) => href.startsWith('/'));
    expect(own.length).toBeGreaterThan(10);
    for (const href of own) hrefs.add(href);
  }
  for (const href of hrefs) {
    const answer = await admin.get(href);
    expect([href, answer.status]).toEqual([href, 200]);
  }
});

it('leads from the notice that events are still being counted to Health of that application', async () => {
  const { id } = silent;
  const counters = {
    getByName: () => ({ settle: () => Promise.reject(new Error('busy')) }),
  } as unknown as Env['COUNTERS'];
  const busy = startWorker({
    COUNTERS: counters,
    SIGN_IN_LIMIT: { limit: async () => ({ success: true }) },
  });
  const page = await pageOf(
    await busy.request(`/retention?app=${id}`, { headers: { Cookie: admin.cookie } }),
  );
  const line = new Page(page.one('.fresh'));
  expect(line.text).toBe('Counting the newest events');
  const shown = await follow(line.link('Counting the newest events'));
  expect([...whereIs(shown), shown.cards[0]]).toEqual(['Health', id, 'Event pipeline']);
});
