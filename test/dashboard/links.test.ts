import { env } from 'cloudflare:workers';
import { and, eq } from 'drizzle-orm';
import { beforeAll, expect, it } from 'vitest';
import { composeDigests, watchAlerts } from '#alerts';
import { alerts, channels, database, notices } from '#db';
import { type Browser, ORIGIN, signedIn } from '../helpers/person.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

// The links that alerts, digests and Health show: each is of the application that it is about, not of the first one of the team, and
// leads to a page that shows what the link names.

const worker = startWorker({ SIGN_IN_LIMIT: { limit: async () => ({ success: true }) } });
const HOUR_MS = 3_600_000;
const SILENT = 'No events arrive for 1 h';

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
  expect((await admin.post(`/alerts${at}`, { kind: 'no_events', threshold: '1' })).status).toBe(303);
  const channel = {
    channel_kind: 'webhook',
    target: 'https://hooks.example.com/T/B/secret',
    digest: 'daily',
  };
  expect((await admin.post(`/alerts/channels${at}`, channel)).status).toBe(303);
  await watchAlerts(env, Date.now() + 3 * HOUR_MS);
  await composeDigests(env, Date.now() + 48 * HOUR_MS);
});

const unescaped = (text: string) => text.replaceAll('&amp;', '&');

/** Opens a link as it stands in a page or message; answers the page. */
async function follow(href: string): Promise<string> {
  const answer = await admin.get(unescaped(href).replace(ORIGIN, ''));
  expect([href, answer.status]).toEqual([href, 200]);
  return answer.text();
}

const isOf = (page: string, { id }: { id: string }) => page.includes(`<option value="${id}" selected`);

/** The links with a text, as their addresses. */
const linksOf = (page: string, text: RegExp) =>
  [...page.matchAll(/<a [^>]*href="([^"]*)"[^>]*>(.*?)<\/a>/gs)]
    .filter(([, , content = '']) => text.test(content.replaceAll(/<[^>]+>/g, '')))
    .map(([, href = '']) => href);

async function messages(kind: 'alert' | 'digest') {
  const rows = await database(env.DB)
    .select({ subject: notices.subject, body: notices.body, id: notices.id })
    .from(notices)
    .innerJoin(channels, eq(channels.id, notices.channelId))
    .where(and(eq(channels.applicationId, silent.id)));
  return rows.filter(({ id }) => id.startsWith('digest:') === (kind === 'digest'));
}

it('an alert’s message leads to the alerts of its application, which say what it said', async () => {
  const [message, ...others] = await messages('alert');
  expect(others).toEqual([]);
  const [href = ''] = /https:\S+/.exec(message?.body ?? '') ?? [];
  expect(href).toBe(`${ORIGIN}/alerts?app=${silent.id}`);
  const page = await follow(href);
  expect(isOf(page, silent)).toBe(true);
  const [alert] = await database(env.DB).select().from(alerts).where(eq(alerts.applicationId, silent.id));
  expect(message?.body.split('\n')[0]).toBe(`Alert · ${silent.name}: ${alert?.finding}`);
  expect(page).toContain(alert?.finding);
  expect(page).toContain('class="badge bad"');
});

it('a digest leads to the overview of its application and day', async () => {
  const [digest] = await messages('digest');
  const [href = ''] = /https:\S+/.exec(digest?.body ?? '') ?? [];
  const { pathname, searchParams } = new URL(href);
  expect([pathname, searchParams.get('app')]).toEqual(['/', silent.id]);
  const page = await follow(href);
  expect(isOf(page, silent)).toBe(true);
  expect(page).toContain(`name="from" value="${searchParams.get('from')}"`);
  expect(page).toContain(`name="to" value="${searchParams.get('to')}"`);
});

it('a firing alert on the overview leads to Health and to the alerts of the same application', async () => {
  const overview = await follow(`/?app=${silent.id}`);
  expect(overview).toContain(SILENT);
  const [health = ''] = linksOf(overview, /^see Health$/);
  const shown = await follow(health);
  expect(isOf(shown, silent)).toBe(true);
  expect(shown).toContain('<h2>Event pipeline</h2>');
  const [all = ''] = linksOf(overview, /^All alerts$/);
  const listed = await follow(all);
  expect([isOf(listed, silent), listed.includes(SILENT)]).toEqual([true, true]);
  // The first application of the team is not silent.
  expect(await follow('/')).not.toContain(SILENT);
});

it('the list of alerts leads to Health of the same application', async () => {
  const [health = ''] = linksOf(await follow(`/alerts?app=${silent.id}`), /^See Health$/);
  const page = await follow(health);
  expect([isOf(page, silent), page.includes('<h1>Health</h1>')]).toEqual([true, true]);
});

it('every link of the alerts, of Health and of the overview answers', async () => {
  for (const path of ['/alerts', '/status', '/']) {
    const page = await follow(`${path}?app=${silent.id}`);
    const hrefs = new Set(linksOf(page, /./).filter((href) => href.startsWith('/')));
    expect(hrefs.size).toBeGreaterThan(10);
    for (const href of hrefs) {
      const answer = await admin.get(unescaped(href));
      expect([href, answer.status]).toEqual([href, 200]);
    }
  }
});

it('the notice that events are still being counted leads to Health of that application', async () => {
  const { id } = silent;
  const counters = {
    getByName: () => ({ settle: () => Promise.reject(new Error('busy')) }),
  } as unknown as Env['COUNTERS'];
  const busy = startWorker({
    COUNTERS: counters,
    SIGN_IN_LIMIT: { limit: async () => ({ success: true }) },
  });
  const page = await (
    await busy.request(`/retention?app=${id}`, { headers: { Cookie: admin.cookie } })
  ).text();
  expect(page).toContain('The newest events are still being counted.');
  const [health = ''] = linksOf(page, /^Health$/).filter((href) => href.includes(id));
  const shown = await follow(health);
  expect([isOf(shown, silent), shown.includes('<h2>Event pipeline</h2>')]).toEqual([true, true]);
});
