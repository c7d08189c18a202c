import { env } from 'cloudflare:workers';
import { beforeAll, expect, it } from 'vitest';
import { PAGES } from '../../src/dashboard/pages.ts';
import { createCreative } from '../helpers/creatives.ts';
import { envelope } from '../helpers/envelopes.ts';
import { Page, pageOf } from '../helpers/page.ts';
import { type Browser, signedIn } from '../helpers/person.ts';
import { settleAll } from '../helpers/settle.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

// A share link with a filter shows its guests nothing that the filter does not select: every page, in every grouping that it offers.

const worker = startWorker({ SIGN_IN_ADDRESS_LIMIT: { limit: async () => ({ success: true }) } });
const DAY = '2026-03-02';
const PERIOD = 'from=2026-03-01&to=2026-03-07';
/** No name of what the filters do not select is without this word. */
const FOREIGN = /foreign/i;
const SAVABLE = PAGES.filter(({ savable }) => savable).map(({ path }) => path);
let tenant: Tenant;
let admin: Browser;
let campaignId: string;

beforeAll(async () => {
  tenant = await createTenant();
  admin = await signedIn(worker, tenant.team, 'admin');
  const { id: application_id } = tenant.application;
  for (const [kind, country] of [
    ['Shown', 'de'],
    ['Foreign', 'us'],
  ] as const) {
    const names = { creative: `${kind} creative`, campaign: `${kind} campaign`, adset: `${kind} ad set` };
    const made = await createCreative(worker, tenant, names);
    const token = await fetchToken(worker, tenant, {
      created_at: `${DAY}T08:00:00.000Z`,
      data: { creative_token: made.token, country },
    });
    const at = { created_at: `${DAY} 10:00:00` };
    const network = `${kind.toLowerCase()}_network`;
    const events = [
      envelope.purchase(token, at, { item_id: `${kind} item`, item_name: `${kind} item`, tr_id: kind }),
      envelope.ad(token, at, { ad_id: `${kind} placement`, source: `${kind}_format`, media_source: network }),
      envelope.custom(token, at, { event_name: `${kind} event` }),
    ].map((event) => ({ ...event, app_version: `1.${kind}` }));
    const answer = await worker.post(tenant, '/webhook/batch', { events });
    expect(await answer.json()).toMatchObject({ accepted: events.length });
    const amount = { currency: 'usd', amount: 5 };
    const rows = [
      { date: DAY, ...names, ...amount },
      { date: DAY, campaign: `${kind === 'Foreign' ? kind : 'Also foreign'} unmatched`, ...amount },
    ];
    const body = { application_id, rows };
    expect((await worker.team(tenant, '/v1/costs', { method: 'PUT', body })).status).toBe(200);
  }
  await worker.deliver(worker.queue.take());
  await settleAll(application_id);
  // All creatives are new in the period, so that charts mark them.
  await env.DB.prepare('UPDATE creatives SET created_at = ? WHERE application_id = ?')
    .bind(Date.parse(DAY), application_id)
    .run();
  const campaigns = await worker.team(tenant, `/v1/campaigns?application_id=${application_id}`);
  const { data } = await campaigns.json<{ data: { id: string; name: string }[] }>();
  campaignId = data.find(({ name }) => name.startsWith('Shown'))?.id ?? '';
  for (const path of SAVABLE) {
    await admin.post('/views', { address: `${path}?app=${application_id}`, name: `Foreign view of ${path}` });
  }
});

async function openAsGuest(path: string, query: string, period = PERIOD): Promise<string> {
  const address = `${path}?app=${tenant.application.id}&${period}&${query}`;
  const fields = { address, note: 'A guest', days: '7' };
  const made = await pageOf(await admin.submit('/views/links', fields));
  const answer = await worker.request(new URL(made.one('.notice code').text).pathname);
  expect(answer.status).toBe(200);
  return answer.text();
}

/** The choices that a page offers in its own form. */
async function choicesOf(path: string): Promise<string[]> {
  const page = await pageOf(await admin.get(`${path}?app=${tenant.application.id}&${PERIOD}`));
  const choices = ['by', 'group'].flatMap((name) =>
    page
      .all(`main select[name="${name}"] option`)
      .map((option) => `${name}=${option.getAttribute('value') ?? ''}`),
  );
  const levels = path === '/creatives' ? ['by=campaign', 'by=adset'] : [];
  return ['', ...choices, ...levels];
}

const FILTERS = ['campaign', 'country'] as const;

it.each(SAVABLE.flatMap((path) => FILTERS.map((filter) => [path, filter] as const)))(
  'shows on %s only names that the filter by %s selects',
  async (path, filter) => {
    const query = { campaign: `campaign_id=${campaignId}`, country: 'country=de' }[filter];
    for (const choice of await choicesOf(path)) {
      const html = await openAsGuest(path, `${query}&${choice}`);
      expect({ choice, found: html.match(new RegExp(`.{60}${FOREIGN.source}.{20}`, 'i'))?.[0] }).toEqual({
        choice,
      });
    }
  },
);

it('would find the names of what is not selected', async () => {
  for (const path of ['/creatives', '/breakdown', '/costs']) {
    expect(await openAsGuest(path, 'by=creative')).toMatch(FOREIGN);
  }
});

/** What chooses, changes or leads somewhere. */
const CONTROLS = '.pop > summary, .asides a, .card-head a, .pages a, .notice a, a.button, button';
const EMPTY_PERIOD = 'from=2025-03-01&to=2025-03-07';

it.each(SAVABLE)('shows on %s neither controls nor what the team saved', async (path) => {
  for (const period of [PERIOD, EMPTY_PERIOD]) {
    const own = await pageOf(await admin.get(`${path}?app=${tenant.application.id}&${period}`));
    const labels = own.texts(CONTROLS).filter((label) => label !== '');
    const html = await openAsGuest(path, '', period);
    const shared = new Page(html);
    for (const heading of shared.all('th')) heading.remove();
    const texts = new Set(shared.texts('main *'));
    expect(labels.filter((label) => texts.has(label))).toEqual([]);
    expect(shared.all(`.pop, .switch, ${CONTROLS}`).map(String)).toEqual([]);
    expect(html).not.toContain('Foreign view');
    expect(shared.text).not.toMatch(/ask an admin/i);
  }
});
