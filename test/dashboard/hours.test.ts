import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createCreative } from '../helpers/creatives.ts';
import { envelope } from '../helpers/envelopes.ts';
import { type Browser, signedIn } from '../helpers/person.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

// What the dashboard shows of today at half past nine in Tokyo: the same part of yesterday is until nine.

const worker = startWorker({ SIGN_IN_LIMIT: { limit: async () => ({ success: true }) } });
const NOW = Date.parse('2026-03-15T09:30:00+09:00');
let tenant: Tenant;
let browser: Browser;
const ids: Record<string, string> = {};

beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW });
  tenant = await createTenant({ timezone: 'Asia/Tokyo' });
  browser = await signedIn(worker, tenant.team, 'viewer');
  const tokens: Record<string, string> = {};
  for (const creative of ['Dragon', 'Castle']) {
    const made = await createCreative(worker, tenant, { creative, campaign: `${creative} ads` });
    ids[creative] = made.id;
    tokens[creative] = await fetchToken(worker, tenant, {
      created_at: '2026-03-01T00:00:00.000Z',
      data: { creative_token: made.token, country: 'jp' },
    });
  }
  /** Purchases of whole dollars by the clock of Tokyo. */
  const bought: [creative: string, at: string, dollars: number][] = [
    ['Dragon', '2026-03-13T08:00:00', 16],
    ['Dragon', '2026-03-13T12:00:00', 900],
    ['Dragon', '2026-03-14T08:59:59', 10],
    ['Castle', '2026-03-14T02:00:00', 20],
    ['Dragon', '2026-03-14T09:00:00', 500],
    ['Dragon', '2026-03-15T00:00:00', 5],
    ['Dragon', '2026-03-15T08:30:00', 10],
    ['Castle', '2026-03-15T08:45:00', 30],
    ['Castle', '2026-03-15T09:10:00', 7],
  ];
  const events = bought.map(([creative, at, value]) =>
    envelope.purchase(
      tokens[creative] ?? '',
      { created_at: new Date(`${at}+09:00`).toISOString() },
      { value, tr_id: `${creative} ${at}` },
    ),
  );
  const answer = await worker.post(tenant, '/webhook/batch', { events });
  expect(await answer.json()).toMatchObject({ accepted: bought.length });
  await worker.deliver(worker.queue.take());
});
afterAll(() => {
  vi.useRealTimers();
});

async function page(path: string) {
  const answer = await browser.get(`${path}${path.includes('?') ? '&' : '?'}app=${tenant.application.id}`);
  const html = await answer.text();
  return { html, text: html.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ') };
}

/** The texts of a chart's series at its places. */
function chartOf(html: string, title: string) {
  const [, rest = ''] = html.split(`<h2>${title}</h2>`);
  const data = /data-chart="([^"]*)"/.exec(rest)?.[1]?.replaceAll('&quot;', '"') ?? '{}';
  return JSON.parse(data) as { labels: string[]; series: { name: string; texts: string[] }[] };
}

describe('today', () => {
  it('is compared with the same part of yesterday, and shows all that came so far', async () => {
    const { text } = await page('/?period=today');
    expect(text).toContain('15 Mar until 09:00 compared with 14 Mar until 09:00');
    // 45 of the 52 came until nine; yesterday 30 of 530.
    expect(text).toContain('Revenue $52.00 ▲ 50% more from $30.00 by 09:00');
    expect(text).toMatch(/DAU 2 2 before; today is not over/);
  });

  it('is drawn by hour over the whole day, with an incomplete current hour and nothing after it', async () => {
    const { html, text } = await page('/?period=today');
    const { labels, series } = chartOf(html, 'Revenue by hour');
    const [revenue, , before] = series;
    expect(labels).toHaveLength(24);
    expect(labels.slice(8, 11)).toEqual([
      'Sun, 15 Mar 2026, 08:00–09:00',
      'Sun, 15 Mar 2026, 09:00–10:00, not complete',
      'Sun, 15 Mar 2026, 10:00–11:00',
    ]);
    expect(revenue?.texts.slice(7, 11)).toEqual(['$0.00', '$40.00', '$7.00', '–']);
    expect(before?.texts.slice(8, 11)).toEqual(['$10.00', '$500.00', '$0.00']);
    expect(text).toContain('Installs and sessions by hour');
    expect(text).toMatch(/2026-03-15 09:00 .*2026-03-15 08:00/);
    expect(text).not.toContain('Spend, before');
  });

  it('names the creatives that changed most until the same hour', async () => {
    const { text } = await page('/?period=today');
    expect(text).toMatch(/What changed revenue most Creative Castle \+\$10.00 ▲ 50% more/);
    expect(text).not.toMatch(/What changed revenue most .*All countries/);
  });

  it('has tables that compare the same part', async () => {
    const { text } = await page('/breakdown?period=today&by=creative');
    expect(text).toMatch(/Castle \$37.00 \$20.00 \+ ?\$10.00 \(50%\)/);
    expect(text).toMatch(/Dragon \$15.00 \$10.00 \+ ?\$5.00 \(50%\)/);
    expect(text).toContain('15 Mar until 09:00 compared with 14 Mar until 09:00');
  });

  it('is compared by whole days, and says so, if a filter has no hours', async () => {
    const { text, html } = await page('/?period=today&country=jp');
    expect(text).toContain(
      'Today so far; 14 Mar for comparison; hours are not known by country, OS or app version',
    );
    expect(text).toContain('Revenue $52.00 $530.00 before; today is not over');
    expect(html).toContain('<h2>Revenue by day</h2>');
  });

  it.each(['/', '/breakdown?by=hour'])(
    'is compared with a year ago, whose hours are gone: %s',
    async (path) => {
      const { html, text } = await page(`${path}${path === '/' ? '?' : '&'}period=today&compare=year`);
      expect(text).toContain('Today so far; 15 Mar 2025 for comparison; hours are kept for 32 days');
      expect(chartOf(html, 'Revenue by hour').series.map(({ name }) => name)).not.toContain(
        'Revenue, before',
      );
      expect(text).not.toContain('Change');
    },
  );

  it('says by hour why DAU is missing', async () => {
    const sentence = 'DAU and payers count a device once per day';
    expect((await page('/?period=today')).text).toContain(sentence);
    expect((await page('/breakdown?period=today&by=hour')).text).toContain(sentence);
    expect((await page('/?period=7d')).text).not.toContain(sentence);
  });

  it('is not compared before its first full hour is over', async () => {
    vi.setSystemTime(Date.parse('2026-03-15T00:59:00+09:00'));
    const { text } = await page('/?period=today');
    vi.setSystemTime(NOW);
    expect(text).toContain('Today so far; 14 Mar for comparison');
    expect(text).toContain('530.00 before; today is not over');
  });
});

describe('a period that contains today', () => {
  const PERIOD = 'from=2026-03-14&to=2026-03-15';

  it('adds the part of today to the days that are over', async () => {
    const { text } = await page('/?period=7d');
    expect(text).toContain('9 Mar – 15 Mar until 09:00 compared with 2 Mar – 8 Mar until 09:00');
    expect(text).toContain('DAU, ARPDAU, spend and ROAS without today');
    const days = await page(`/?${PERIOD}`);
    // 530 and 45 against 16 of the 13th until nine: the 12th brought nothing.
    expect(days.text).toContain('Revenue $582.00 ▲ 36× more from $16.00 by 09:00');
  });

  it('compares today with the part of the day in its place, row by row', async () => {
    const { text } = await page('/breakdown?from=2026-03-14&to=2026-03-15&by=day&metric=revenue');
    expect(text).toMatch(/2026-03-14 \$530.00 \$0.00 \+ ?\$530.00 .*2026-03-15 \$52.00 \$16.00 \+ ?\$29.00/);
  });

  it('leaves today out of metrics without hours', async () => {
    const { text } = await page('/breakdown?period=7d&by=country');
    expect(text).toContain('today is left out until it is over');
    const payers = await page('/breakdown?period=7d&by=creative&metric=payers');
    expect(payers.text).toContain('today is left out until it is over');
  });

  it('leaves today out if the hours of the day it is compared with are no longer kept', async () => {
    expect((await page('/?period=90d')).text).toContain(
      'today is left out until it is over; hours are kept for 32 days',
    );
  });
});

describe('a breakdown by hour', () => {
  it('has a row for each hour, which leads to its day', async () => {
    const { text, html } = await page('/breakdown?period=today&by=hour&and=campaign');
    expect(text).toMatch(/2026-03-15 08:00 Castle ads \$30.00 .*2026-03-15 08:00 Dragon ads \$10.00/);
    expect(html).toMatch(/period=custom[^"]*from=2026-03-15&amp;to=2026-03-15[^"]*"[^>]*>2026-03-15 08:00/);
  });

  it('shows what each hour had before, at the same hour of the clock', async () => {
    const { html, text } = await page('/breakdown?period=today&by=hour');
    // The hour that is not over is not compared.
    expect(text).toMatch(
      /2026-03-15 08:00 \$40.00 \$10.00 \+ ?\$30.00 \(300%\).*2026-03-15 09:00 \$7.00 – –/,
    );
    const [, before] = chartOf(html, 'Revenue by hour').series;
    expect(before?.texts.slice(8, 11)).toEqual(['$10.00', '$500.00', '$0.00']);
  });

  it('covers a period that reaches back further than the hours of the one before', async () => {
    const { html, text } = await page('/breakdown?period=28d&by=hour&metric=purchases');
    expect(text).toContain('Purchases by hour');
    const [purchases, before] = chartOf(html, 'Purchases by hour').series;
    expect(purchases?.name).toBe('Purchases');
    expect(before).toBeUndefined();
  });

  it.each(['period=90d', 'period=today&country=jp', 'period=today&and=country'])(
    'shows days instead where there are no hours, and says so: %s',
    async (query) => {
      const { text } = await page(`/breakdown?${query}&by=hour`);
      expect(text).toContain('This shows days: figures by hour are kept for 32 days');
      expect(text).toContain('Revenue by day');
      expect(text).toMatch(/2026-03-15 .*\$52.00/);
    },
  );
});

it('marks a new creative at its hour', async () => {
  const { text } = await page('/?period=today');
  expect(text).toContain('Sun, 15 Mar 2026, 09:00–10:00: 2 new creatives.');
});
