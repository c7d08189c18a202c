import fc from 'fast-check';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { addDays } from '#lib/time';
import { change, shareText } from '../../src/dashboard/compared.tsx';
import { groupName, groupWord } from '../../src/dashboard/groups.tsx';
import {
  METRIC_NAMES,
  METRICS,
  type MetricName,
  nothingOf,
  showMetric,
} from '../../src/dashboard/metrics.ts';
import { isHourly } from '../../src/dashboard/part-of-day.ts';
import { createCreative } from '../helpers/creatives.ts';
import { envelope } from '../helpers/envelopes.ts';
import { type Page, pageOf } from '../helpers/page.ts';
import { type Browser, signedIn } from '../helpers/person.ts';
import { settleAll } from '../helpers/settle.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

// Every page that compares periods, for random periods: the figure, the earlier figure and the change beside it are those that the team API gives
// for the days that the page names.

const worker = startWorker({ SIGN_IN_LIMIT: { limit: async () => ({ success: true }) } });
const TODAY = '2026-03-15';
const HISTORY_DAYS = 45;
const CREATIVES = ['Dragon', 'Castle', 'Forest'];
let tenant: Tenant;
let browser: Browser;
const ids = new Map<string, string>();

beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(`${TODAY}T09:30:00+09:00`) });
  tenant = await createTenant({ timezone: 'Asia/Tokyo' });
  browser = await signedIn(worker, tenant.team, 'admin');
  const events: Record<string, unknown>[] = [];
  for (const [place, creative] of CREATIVES.entries()) {
    const made = await createCreative(worker, tenant, {
      creative,
      campaign: `${creative} ads`,
      adset: 'All',
    });
    ids.set(creative, made.id);
    for (let age = 0; age < HISTORY_DAYS; age += place + 1) {
      const day = addDays(TODAY, -age);
      const at = (clock: string) => ({ created_at: new Date(`${day}T${clock}+09:00`).toISOString() });
      const token = await fetchToken(worker, tenant, {
        ...at('01:30:00'),
        data: { creative_token: made.token, country: age % 3 === 0 ? 'de' : 'us' },
      });
      for (const [hour, clock] of ['03:00:00', '08:59:59', '09:00:00', '18:00:00'].entries()) {
        if (age === 0 && hour === 3) continue;
        const value = place + hour + (age % 7) + 1;
        events.push(envelope.purchase(token, at(clock), { value, tr_id: `${creative} ${day} ${clock}` }));
        events.push(envelope.ad(token, at(clock), { value: value / 8 }));
      }
    }
  }
  for (let start = 0; start < events.length; start += 500) {
    const answer = await worker.post(tenant, '/webhook/batch', { events: events.slice(start, start + 500) });
    expect(await answer.json()).toMatchObject({ rejected: 0 });
  }
  await worker.deliver(worker.queue.take());
  await settleAll(tenant.application.id);
  const rows = Array.from({ length: HISTORY_DAYS }, (_, age) => ({
    ...{ date: addDays(TODAY, -age), campaign: 'Dragon ads', currency: 'usd', amount: 3 + (age % 5) },
  }));
  const body = { application_id: tenant.application.id, rows };
  expect((await worker.team(tenant, '/v1/costs', { method: 'PUT', body })).status).toBe(200);
});
afterAll(() => {
  vi.useRealTimers();
});

type Days = { from: string; to: string; until_hour?: string };
type Row = Record<string, string | number | null>;
type Answer = { data: Row[]; totals: Row };

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sept', 'Oct', 'Nov', 'Dec'];

/** The days of a label such as `9 Mar – 14 Mar` or `15 Mar 2025 until 09:00`. */
function daysIn(text: string): Days {
  const [, days = '', until] = /^(.*?)(?: until (\d\d):00)?$/.exec(text) ?? [];
  const years = [...days.matchAll(/\d{4}/g)].map(([year]) => year);
  const dates = days.split(' – ').map((one) => {
    const [day = '', month = '', year = years.at(-1) ?? TODAY.slice(0, 4)] = one.split(' ');
    return `${year}-${String(MONTHS.indexOf(month) + 1).padStart(2, '0')}-${day.padStart(2, '0')}`;
  });
  const [from = '', to = from] = dates;
  return { from, to, ...(until ? { until_hour: String(Number(until)) } : {}) };
}

/** The periods that a part of a page names; null if it says that nothing is compared. */
function periodsIn(part: Page): { now: Days; before: Days } | null {
  const label = part.texts('.muted').find((text) => text.includes('compared with'));
  if (label === undefined) return null;
  const [now = '', before = ''] = label.replace(/;.*/, '').split(' compared with ');
  return { now: daysIn(now), before: daysIn(before) };
}

async function api(days: Days, more: Record<string, string>): Promise<Answer> {
  const query = new URLSearchParams({ application_id: tenant.application.id, ...days, ...more });
  const answer = await worker.team(tenant, `/v1/reports/performance?${query}`);
  if (answer.status !== 200) throw new Error(await answer.text());
  return answer.json();
}

const show = (name: MetricName, value: unknown) =>
  showMetric(name, typeof value === 'number' ? value : null, 'usd');
const numberOf = (value: unknown) => (typeof value === 'number' ? value : null);

/** Every figure of a card against the API's totals. */
async function expectCard(card: Page, filters: Record<string, string>, view: Days) {
  const periods = periodsIn(card);
  const inTotal = { group_by: 'month', ...filters };
  const whole = await api(view, inTotal);
  const [now, before] = periods
    ? await Promise.all([api(periods.now, inTotal), api(periods.before, inTotal)])
    : [whole, null];
  const shown = Object.entries(card.figures);
  expect(shown.length).toBeGreaterThan(2);
  for (const [label, text] of shown) {
    const name = METRIC_NAMES.find((metric) => METRICS[metric].label === label);
    if (!name) throw new Error(label);
    if (!periods || !before || (periods.now.until_hour && !isHourly(name))) {
      expect(text).toBe(show(name, whole.totals[name]) + (periods ? ' so far' : ''));
      continue;
    }
    const [is, was] = [numberOf(now.totals[name]), numberOf(before.totals[name])];
    const by = change(is, was);
    expect(text.startsWith(`${show(name, is)}`)).toBe(true);
    const rest = text.slice(show(name, is).length).replace(/ \S+ (with today )?so far$/, '');
    if (was === null) expect(rest).toBe('');
    else if (rest.endsWith('still growing')) expect(rest).toBe(` ${show(name, was)} before; still growing`);
    else if (by === null) expect(rest).toBe(` ${show(name, was)} before`);
    else {
      expect(rest).toContain(` ${shareText(by)} `);
      expect(rest.endsWith(` from ${show(name, was)}`)).toBe(true);
    }
  }
}

type Table = { caption: string; group: string; metric: MetricName; earlier?: string };

/** Every row of a table, and its totals, against the API's rows of the same groups. */
async function expectTable(
  page: Page,
  part: Page,
  { caption, group, metric, earlier = 'Before' }: Table,
  view: Days,
  filters: Record<string, string>,
) {
  const periods = periodsIn(part);
  const { headings, rows, totals } = page.table(caption);
  const columnOf = (name: string) => headings.indexOf(name);
  expect(headings.includes(earlier)).toBe(periods !== null);
  expect(rows.length).toBeGreaterThan(0);
  const asked = { group_by: group, ...filters };
  const [now, before] = periods
    ? await Promise.all([api(periods.now, asked), api(periods.before, asked)])
    : [await api(view, asked), null];
  const figureOf = (answer: Answer | null, cells: readonly string[]) => {
    if (cells === totals) return numberOf(answer?.totals[metric]);
    // Below the name may be what contains it.
    const found = answer?.data.find((row) => `${cells[0]} `.startsWith(`${groupName(group, row)} `));
    return found ? numberOf(found[metric]) : nothingOf(metric);
  };
  for (const cells of totals.length > 0 ? [...rows, totals] : rows) {
    const [is, was] = [figureOf(now, cells), figureOf(before, cells)];
    const by = is === null || was === null ? null : is - was;
    const share = change(is, was);
    const sign = by === null ? '' : by > 0 ? '+' : by < 0 ? '−' : '';
    const amount = by === null ? '–' : sign + show(metric, Math.abs(by));
    const columns = {
      [METRICS[metric].label]: show(metric, is),
      ...(periods ? { [earlier]: show(metric, was) } : {}),
      ...(columnOf('Change') >= 0
        ? { Change: share === null ? amount : `${amount} (${shareText(share)})` }
        : {}),
    };
    const shown = Object.fromEntries(Object.keys(columns).map((name) => [name, cells[columnOf(name)]]));
    // An item without any figures in the period is in the list of creatives, too.
    const { label } = METRICS[metric];
    if (is === 0 && shown[label] === '–') shown[label] = show(metric, 0);
    expect({ row: cells[0], ...shown }).toEqual({ row: cells[0], ...columns });
  }
}

/** Every row of a day against the API's figures of that day and of the day at the same position. */
async function expectDays(page: Page, part: Page, metric: MetricName, view: Days) {
  const periods = periodsIn(part);
  const { headings, rows } = page.table('Figures by day');
  if (!periods) return expect(headings).not.toContain('Before');
  const [now, before] = await Promise.all([
    api(view, { group_by: 'day' }),
    api(periods.before, { group_by: 'day' }),
  ]);
  const apart = (Date.parse(view.from) - Date.parse(periods.before.from)) / 86_400_000;
  const figureOf = (answer: Answer, day: string) =>
    numberOf((answer.data.find((row) => row.day === day) ?? { [metric]: nothingOf(metric) })[metric]);
  for (const cells of rows) {
    const day = cells[0] ?? '';
    const earlier = addDays(day, -apart);
    const isOver = day <= periods.now.to && earlier <= periods.before.to;
    const was = isOver ? figureOf(before, earlier) : null;
    expect([day, cells[headings.indexOf(METRICS[metric].label)], cells[headings.indexOf('Before')]]).toEqual([
      day,
      show(metric, figureOf(now, day)),
      show(metric, was),
    ]);
  }
}

const METRICS_COMPARED = ['revenue', 'installs', 'dau', 'payers', 'spend'] as const;
const AD_METRICS = ['ad_revenue', 'impressions', 'ecpm'] as const;
const dayAgo = (age: number) => addDays(TODAY, -age);

const period = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom('today', 'yesterday', '7d', '28d', 'month') },
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.integer({ min: -2, max: 20 }), fc.integer({ min: 0, max: 15 }))
      .map(([end, length]) => `custom&from=${dayAgo(end + length)}&to=${dayAgo(end)}`),
  },
);

/** The days of a period, as the API is asked for them. */
function daysOf(chosen: string): Days {
  const [, from = '', to = ''] = /from=(.*)&to=(.*)/.exec(chosen) ?? [];
  if (from) return { from, to };
  if (chosen === 'month') return { from: '2026-03-01', to: TODAY };
  if (chosen === 'today') return { from: TODAY, to: TODAY };
  if (chosen === 'yesterday') return { from: dayAgo(1), to: dayAgo(1) };
  return { from: dayAgo(Number.parseInt(chosen, 10) - 1), to: TODAY };
}

const question = fc.oneof(
  fc.constantFrom('/', '/costs', '/creatives/{creative}').map((path) => ({ path })),
  fc
    .record({
      path: fc.constant('/breakdown'),
      group: fc.constantFrom('creative', 'country', 'campaign', 'os', 'day'),
      metric: fc.constantFrom(...METRICS_COMPARED),
    })
    .filter(({ group, metric }) => metric !== 'spend' || group === 'creative' || group === 'campaign'),
  fc.record({
    path: fc.constant('/ads'),
    group: fc.constantFrom('creative', 'country', 'campaign', 'media_source', 'source'),
    metric: fc.constantFrom(...AD_METRICS),
  }),
  fc.record({
    path: fc.constant('/creatives'),
    group: fc.constantFrom('creative', 'campaign'),
    metric: fc.constantFrom('revenue', 'installs', 'spend'),
  }),
);

it('shows figures, earlier figures and changes of the days that the page names', async () => {
  const creative = ids.get('Castle') ?? '';
  await fc.assert(
    fc.asyncProperty(
      period,
      fc.constantFrom('previous', 'year', 'none'),
      question,
      async (chosen, compare, asked) => {
        const view = daysOf(chosen);
        const path = asked.path.replace('{creative}', creative);
        const isAhead = view.from > TODAY;
        if (isAhead) return;
        const own =
          'metric' in asked ? `&by=${asked.group}&metric=${asked.metric}&sort=-${asked.metric}` : '';
        const answer = await browser.get(
          `${path}?app=${tenant.application.id}&period=${chosen}&compare=${compare}${own}`,
        );
        expect(answer.status).toBe(200);
        const page = await pageOf(answer);
        if (!('metric' in asked)) {
          const filters: Record<string, string> = path === asked.path ? {} : { creative_id: creative };
          const title = path === '/costs' ? 'Spend by day' : 'This period';
          // A period without costs has no figures of them.
          if (path === '/costs' && !page.cards.includes(title)) return;
          await expectCard(page.card(title), filters, view);
          if (path !== '/' || !page.cards.includes('Top campaigns')) return;
          const table = {
            caption: 'Campaigns with the highest revenue',
            group: 'campaign',
            earlier: 'Revenue before',
          };
          await expectTable(page, page.card('Top campaigns'), { ...table, metric: 'revenue' }, view, {});
          return;
        }
        const { group, metric } = asked;
        const captions: Record<string, string> = {
          '/breakdown': `Figures by ${group}`,
          '/ads': `Ad figures by ${groupWord(group)}`,
          '/creatives': group === 'creative' ? 'Creatives' : 'Campaigns',
        };
        const caption = captions[path] ?? '';
        const isEmpty =
          !page.tables.some((name) => name.startsWith(caption)) || page.table(caption).rows.length < 2;
        if (isEmpty) return;
        const title =
          { '/breakdown': 'All figures', '/creatives': caption }[path] ?? `By ${groupWord(group)}`;
        const part = page.card(title);
        if (group === 'day') await expectDays(page, part, metric, view);
        else await expectTable(page, part, { caption, group, metric }, view, {});
      },
    ),
    { numRuns: 50 },
  );
}, 120_000);
