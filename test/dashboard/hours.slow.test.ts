import { env } from 'cloudflare:workers';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createCreative } from '../helpers/creatives.ts';
import { envelope } from '../helpers/envelopes.ts';
import { pageOf } from '../helpers/page.ts';
import { type Browser, signedIn } from '../helpers/person.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

// What the dashboard shows of today at half past nine in Tokyo. The same part of yesterday ends at nine.

const worker = startWorker({ SIGN_IN_LIMIT: { limit: async () => ({ success: true }) } });
const NOW = Date.parse('2026-03-15T09:30:00+09:00');
let tenant: Tenant;
let browser: Browser;

beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW });
  tenant = await createTenant({ timezone: 'Asia/Tokyo' });
  browser = await signedIn(worker, tenant.team, 'viewer');
  const tokens: Record<string, string> = {};
  for (const creative of ['Dragon', 'Castle']) {
    const made = await createCreative(worker, tenant, { creative, campaign: `${creative} ads` });
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

const page = async (path: string) =>
  pageOf(await browser.get(`${path}${path.includes('?') ? '&' : '?'}app=${tenant.application.id}`));

describe('today', () => {
  it('shows and compares the full hours, and says what there is so far', async () => {
    const figures = (await page('/?period=today')).card('This period');
    expect(figures.texts('.card-head .muted')).toEqual([
      'Sun 15 Mar until 09:00 compared with Sat 14 Mar until 09:00; DAU, ARPDAU, spend, ROAS day 7 and profit so far',
    ]);
    // $45 of the $52 came until nine; yesterday $30 of $530.
    expect(figures.figures).toMatchObject({
      Revenue: '$45.00 ▲ 50.0% more $30.00 before $52.00 so far',
      DAU: '2 so far',
    });
  });

  it('draws the whole day by hour, with an incomplete current hour and nothing after it', async () => {
    const shown = await page('/?period=today');
    const { labels, series } = shown.card('Revenue by hour').chart;
    const [revenue, before] = series;
    expect(labels).toHaveLength(24);
    expect(labels.slice(8, 11)).toEqual([
      'Sun 15 Mar, 08:00–09:00',
      'Sun 15 Mar, 09:00–10:00, not complete',
      'Sun 15 Mar, 10:00–11:00',
    ]);
    expect(series.map(({ name }) => name)).toEqual(['Revenue', 'Revenue, before']);
    expect(revenue?.texts.slice(7, 11)).toEqual(['$0.00', '$40.00', '$7.00', '–']);
    expect(before?.texts.slice(8, 11)).toEqual(['$10.00', '$500.00', '$0.00']);
    expect(shown.cells('Figures by hour', 'Hour', 'Purchases', 'Revenue')).toEqual([
      ['Sun 15 Mar, 09:00', '1', '$7.00'],
      ['Sun 15 Mar, 08:00', '2', '$40.00'],
      ['Sun 15 Mar, 00:00', '1', '$5.00'],
    ]);
  });

  it('names the creatives that changed most by the same hour, and no countries, which have no hours', async () => {
    const movers = (await page('/?period=today')).card('What changed revenue most');
    expect(movers.texts('li')).toEqual([
      'Castle creative +$10.00 0 → 0 installs',
      'Dragon creative +$5.00 0 → 0 installs',
    ]);
  });

  it('leaves today out of what changed in a period with days that are over', async () => {
    const movers = (await page('/?period=7d')).card('What changed revenue most');
    expect(movers.texts('.card-head .muted')).toEqual([
      '9 Mar – 14 Mar compared with 2 Mar – 7 Mar; today is left out until it is over',
    ]);
    expect(movers.texts('li').filter((text) => text.includes(' creative '))).toEqual([
      'Dragon creative +$1,426.00 0 → 0 installs',
      'Castle creative +$20.00 0 → 0 installs',
    ]);
  });

  it('compares the same part of both days in tables', async () => {
    const shown = await page('/breakdown?period=today&by=creative');
    expect(shown.texts('.card-head .muted')).toEqual([
      'Sun 15 Mar until 09:00 compared with Sat 14 Mar until 09:00',
    ]);
    expect(shown.cells('Figures by creative', 'Creative', 'Revenue')).toEqual([
      ['Castle', '$30.00 ▲ 50.0% more than $20.00'],
      ['Dragon', '$15.00 ▲ 50.0% more than $10.00'],
    ]);
    // What has no hours is not known until nine.
    expect(shown.table('Figures by creative').headings).not.toContain('DAU');
    expect(shown.text).toContain('DAU and payers count a device once per day');
  });

  it('compares nothing, and says why, if a filter has no hours', async () => {
    const shown = await page('/?period=today&country=jp');
    const card = shown.card('This period');
    expect(card.texts('.card-head .muted')).toEqual([
      'Today so far, not compared: hours are not known by country, OS or app version',
    ]);
    expect(card.figures.Revenue).toBe('$52.00');
    expect(shown.cards).toContain('Revenue by day');
  });

  it.each(['/?', '/breakdown?by=hour&'])(
    'is not compared with a year ago, whose hours are gone: %s',
    async (path) => {
      const shown = await page(`${path}period=today&compare=year`);
      expect(shown.texts('.card-head .muted')).toContain(
        'Today so far, not compared: hours are kept for 32 days',
      );
      const { series } = shown.card('Revenue by hour').chart;
      expect(series.map(({ name }) => name)).not.toContain('Revenue, before');
      expect(shown.all('.also')).toEqual([]);
    },
  );

  it('says by hour why DAU is missing', async () => {
    const sentence = 'DAU and payers count a device once per day';
    expect((await page('/?period=today')).text).toContain(sentence);
    expect((await page('/breakdown?period=today&by=hour')).text).toContain(sentence);
    expect((await page('/?period=7d')).text).not.toContain(sentence);
  });

  it('compares nothing before its first full hour is over', async () => {
    vi.setSystemTime(Date.parse('2026-03-15T00:59:00+09:00'));
    const card = (await page('/?period=today')).card('This period');
    vi.setSystemTime(NOW);
    expect(card.texts('.card-head .muted')).toEqual(['Today so far, not compared']);
    expect(card.figures.Revenue).toBe('$52.00');
  });
});

describe('a period that contains today', () => {
  const PERIOD = 'from=2026-03-14&to=2026-03-15';

  it('shows and compares the days that are over', async () => {
    const week = (await page('/?period=7d')).card('This period');
    expect(week.texts('.card-head .muted')).toEqual([
      '9 Mar – 14 Mar compared with 2 Mar – 7 Mar; today is left out until it is over',
    ]);
    const days = (await page(`/?${PERIOD}`)).card('This period');
    // The 12th brought nothing; the 13th is in the place of today.
    expect(days.figures.Revenue).toBe('$530.00 $0.00 before $582.00 with today so far');
  });

  it('compares no row of today', async () => {
    const shown = await page(`/breakdown?${PERIOD}&by=day&metric=revenue`);
    expect(shown.cells('Figures by day', 'Day', 'Revenue')).toEqual([
      ['Sat 14 Mar', '$530.00 ▲ $530.00 more than $0.00'],
      ['Sun 15 Mar', '$52.00'],
    ]);
  });

  it.each(['by=country', 'by=creative&metric=payers'])(
    'leaves today out of what has no hours: %s',
    async (query) => {
      const shown = await page(`/breakdown?period=7d&${query}`);
      expect(shown.texts('.card-head .muted')).toEqual([
        '9 Mar – 14 Mar compared with 2 Mar – 7 Mar; today is left out until it is over',
      ]);
    },
  );

  it('leaves today out if the hours of the day it is compared with are no longer kept', async () => {
    const card = (await page('/?period=90d')).card('This period');
    expect(card.texts('.card-head .muted')).toEqual([
      '16 Dec 2025 – 14 Mar 2026 compared with 17 Sept – 14 Dec 2025; today is left out until it is over',
    ]);
  });
});

describe('a breakdown by hour', () => {
  it('has a row for each hour, which leads to its day', async () => {
    const shown = await page('/breakdown?period=today&by=hour&and=campaign');
    expect(shown.cells('Figures by hour and campaign', 'Hour', 'Campaign', 'Revenue')).toEqual([
      ['Sun 15 Mar, 00:00', 'Dragon ads', '$5.00'],
      ['Sun 15 Mar, 08:00', 'Castle ads', '$30.00'],
      ['Sun 15 Mar, 08:00', 'Dragon ads', '$10.00'],
      ['Sun 15 Mar, 09:00', 'Castle ads', '$7.00'],
    ]);
    expect(shown.query('Sun 15 Mar, 08:00')).toEqual({
      app: tenant.application.id,
      period: 'custom',
      from: '2026-03-15',
      to: '2026-03-15',
      by: 'campaign',
      and: 'campaign',
    });
  });

  it('shows what each hour had before, at the same hour of the clock', async () => {
    const shown = await page('/breakdown?period=today&by=hour');
    const cells = shown.cells('Figures by hour', 'Hour', 'Revenue');
    // The hour that is not over is not compared.
    expect(cells).toContainEqual(['Sun 15 Mar, 08:00', '$40.00 ▲ 300% more than $10.00']);
    expect(cells).toContainEqual(['Sun 15 Mar, 09:00', '$7.00']);
    const [, before] = shown.card('Revenue by hour').chart.series;
    expect(before?.texts.slice(8, 11)).toEqual(['$10.00', '$500.00', '$0.00']);
  });

  it('covers a period that reaches back further than the hours of the one before', async () => {
    const shown = await page('/breakdown?period=28d&by=hour&metric=purchases');
    expect(shown.card('Purchases by hour').chart.series.map(({ name }) => name)).toEqual(['Purchases']);
  });

  it.each([
    ['period=90d', 'day'],
    ['period=today&country=jp', 'day'],
    ['period=today&and=country', 'day and country'],
  ])('shows days instead where there are no hours, and says so: %s', async (query, groups) => {
    const shown = await page(`/breakdown?${query}&by=hour`);
    expect(shown.notices).toEqual([
      'This shows days: figures by hour are kept for 32 days, by creative, ad set, campaign or currency, and not by country, OS or app version.',
    ]);
    expect(shown.cards).toContain(`Revenue by ${groups}`);
    const rows = shown.cells(`Figures by ${groups}`, 'Day', 'Revenue');
    expect(rows.at(-1)).toEqual(['Sun 15 Mar', '$52.00']);
  });
});

it('marks a new creative on its day in the application’s time zone', async () => {
  // One in the morning in Tokyo, still the day before in UTC.
  const at = Date.parse('2026-03-14T16:00:00Z');
  const { id } = await createCreative(worker, tenant, { creative: 'Late' });
  await env.DB.prepare('UPDATE creatives SET created_at = ? WHERE id = ?').bind(at, id).run();
  const week = (await page('/?period=7d')).card('Revenue by day').chart;
  await env.DB.prepare('DELETE FROM creatives WHERE id = ?').bind(id).run();
  expect(week.notes).toEqual(['', '', '', '', '', '', '3 new creatives']);
});

it('marks a new creative at its hour', async () => {
  const { notes } = (await page('/?period=today')).card('Revenue by hour').chart;
  expect(notes[9]).toBe('2 new creatives');
});
