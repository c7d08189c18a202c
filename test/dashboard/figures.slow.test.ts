import Papa from 'papaparse';
import { beforeAll, describe, expect, it } from 'vitest';
import { amountsIn, count, type FigureFormat, money, percent, RATIOS } from '#lib/format';
import { dayText } from '../../src/dashboard/shell/dates.ts';
import {
  METRIC_DEFINITIONS,
  METRIC_NAMES,
  type MetricName,
  placesOf,
  showMetric,
} from '../../src/dashboard/tables/metrics.ts';
import { duration } from '../../src/lib/format.ts';
import { createCreative } from '../helpers/creatives.ts';
import { pageOf, type ShownTable } from '../helpers/page.ts';
import { type Browser, signedIn } from '../helpers/person.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

// Every page with figures, opened with filters in its URL, against the API's answer for the same filters: each number that a table or a
// card shows, and each line of the page's CSV.

const worker = startWorker({ SIGN_IN_LIMIT: { limit: async () => ({ success: true }) } });
const PERIOD = 'from=2026-03-01&to=2026-03-07';

type Row = Record<string, string | number | boolean | null> & {
  days: Record<string, { eligible: number; classic: number; rolling: number; ltv: number; roas: number }>;
};
type Answer = { data: Row[]; totals: Row };

let tenant: Tenant;
let browser: Browser;
let ids: Record<'dragon' | 'castle' | 'summer', string>;

/** Two creatives of two campaigns and organic devices, in two countries and currencies, with costs. */
beforeAll(async () => {
  tenant = await createTenant();
  browser = await signedIn(worker, tenant.team, 'viewer');
  const { id: application_id } = tenant.application;
  const dragon = await createCreative(worker, tenant, {
    creative: 'Dragon',
    adset: 'Broad',
    campaign: 'Summer',
  });
  const castle = await createCreative(worker, tenant, {
    creative: 'Castle',
    adset: 'Narrow',
    campaign: 'Autumn',
  });
  const events: Record<string, unknown>[] = [];
  const links = [dragon, castle, dragon, null, dragon, null];
  for (const [index, link] of links.entries()) {
    const creativeToken = await fetchToken(worker, tenant, {
      created_at: `2026-03-0${1 + (index % 3)}T10:00:00.000Z`,
      data: {
        device_id: `device-${index}`,
        country: index % 2 === 0 ? 'DE' : 'US',
        ...(link ? { creative_token: link.path.split('/').at(-1) } : {}),
      },
    });
    const at = (day: number) => ({ created_at: `2026-03-0${day} 12:00:00`, creativeToken });
    const network = index % 2 === 0 ? 'admob' : 'unity_ads';
    const ad = {
      ad_id: 'main',
      source: 'banner',
      media_source: network,
      value: 0.125 * (index + 1),
      currency: 'usd',
    };
    events.push(
      { ...at(4), type: 'custom.ad', payload: ad },
      { ...at(5), type: 'custom.ad', payload: { ...ad, source: 'interstitial', currency: 'eur' } },
      {
        ...at(4),
        type: 'custom',
        payload: { event_name: 'ad_request', params: { id: 'main', key: 'banner', value: 3 } },
      },
      { ...at(4), type: 'custom', payload: { event_name: 'level' } },
    );
    if (index < 4) {
      const item = {
        item_id: 'gems',
        item_name: 'Gems',
        value: 1.99 + index,
        status: 'completed',
        tr_id: `t${index}`,
      };
      events.push({
        ...at(6),
        type: 'custom.purchase',
        payload: { ...item, currency: index === 1 ? 'eur' : 'usd' },
      });
    }
  }
  const posted = await worker.post(tenant, '/webhook/batch', { events });
  expect(await posted.json()).toMatchObject({ accepted: events.length, rejected: 0 });
  await worker.deliver(worker.queue.take());
  const rates = { date: '2026-03-01', base: 'usd', rates: { eur: 1.25 } };
  expect((await worker.team(tenant, '/v1/exchange-rates', { method: 'PUT', body: rates })).status).toBe(200);
  const rows = [
    {
      date: '2026-03-01',
      campaign: 'Summer',
      adset: 'Broad',
      creative: 'Dragon',
      currency: 'usd',
      amount: 4.5,
    },
    { date: '2026-03-02', campaign: 'Autumn', currency: 'eur', amount: 2, impressions: 900, clicks: 30 },
  ];
  const costs = await worker.team(tenant, '/v1/costs', { method: 'PUT', body: { application_id, rows } });
  expect(costs.status).toBe(200);
  const campaigns = await worker.team(tenant, `/v1/campaigns?application_id=${application_id}`);
  const { data } = await campaigns.json<{ data: { id: string; name: string }[] }>();
  ids = {
    dragon: dragon.id,
    castle: castle.id,
    summer: data.find(({ name }) => name === 'Summer')?.id ?? '',
  };
});

const queryOf = (parameters: string) =>
  parameters.replaceAll(/\{(\w+)\}/g, (_, name: keyof typeof ids) => ids[name]);

/** The API's answer for the period and filters of the page. */
async function api(report: string, parameters: string, format = 'json'): Promise<Response> {
  const path = `/v1/reports/${report}?application_id=${tenant.application.id}&${PERIOD}&${queryOf(parameters)}&format=${format}`;
  const answer = await worker.team(tenant, path);
  if (answer.status !== 200) throw new Error(`${path}: ${await answer.text()}`);
  return answer;
}
const ask = async (report: string, parameters: string): Promise<Answer> =>
  (await api(report, parameters)).json();

async function open(path: string, parameters: string): Promise<Response> {
  const answer = await browser.get(
    `${queryOf(path)}?app=${tenant.application.id}&${PERIOD}&compare=none&${queryOf(parameters)}`,
  );
  expect(answer.status).toBe(200);
  return answer;
}

const read = async (path: string, parameters: string) => pageOf(await open(path, parameters));

const metricBy = (label: string) => METRIC_NAMES.find((name) => METRIC_DEFINITIONS[name].label === label);

/** A day as tables write it. The period is in a year that may be over. */
const dayIn = (row: Row) => dayText(String(row.day), new Date().toISOString());

/** The metrics among a table's columns, as a row of the API would be written among `all` rows; a missing row brought nothing. */
function expectFigures(
  { headings }: ShownTable,
  cells: readonly string[],
  row: Row | undefined,
  all: readonly Row[],
): number {
  const columns = headings.flatMap((label, index) => {
    const name = metricBy(label);
    return name ? [{ name, shown: cells[index] }] : [];
  });
  expect(columns).toEqual(
    columns.map(({ name }) => {
      const values = all.map((one) => one[name]);
      const places = placesOf(name, values, 'usd');
      return { name, shown: row ? showMetric(name, row[name], 'usd', places) : '–' };
    }),
  );
  return columns.length;
}

/** Every row of a table of metrics against the API's, in the API's order by `keys` or another. */
function expectTable(
  table: ShownTable,
  data: readonly Row[],
  keyOf: (row: Row) => string,
  minMetrics = 3,
): void {
  expect(table.rows.map(([first = '']) => first)).toEqual(data.map(keyOf));
  for (const [index, row] of data.entries()) {
    expect(expectFigures(table, table.rows[index] ?? [], row, data)).toBeGreaterThanOrEqual(minMetrics);
  }
}

const by = (name: string) => (left: Row, right: Row) => Number(right[name] ?? -1) - Number(left[name] ?? -1);

const FILTERS = [
  '',
  'campaign_id={summer}',
  'country=de',
  'attribution=paid&country=us',
  'creative_id={dragon}&creative_id={castle}',
];

/** What the overview shows of each day. */
const METRICS_BY_TIME =
  'installs,dau,sessions,impressions,ad_revenue,purchases,purchase_revenue,revenue,arpdau,spend,roas_d7,profit';

describe.each(FILTERS)('the figures of a page with the filters “%s” are the API’s:', (filters) => {
  it('overview', async () => {
    const page = await read('/', filters);
    const { totals, data } = await ask('performance', `group_by=day&${filters}&metrics=${METRICS_BY_TIME}`);
    const cards = page.all('[data-metric]').map((card) => [card.getAttribute('data-metric'), card.text]);
    expect(cards).toEqual(
      ['revenue', 'installs', 'dau', 'arpdau', 'spend', 'roas_d7', 'profit'].map((name) => [
        name,
        showMetric(name as MetricName, totals[name], 'usd'),
      ]),
    );
    expectTable(page.table('Figures by day'), data.toReversed(), dayIn, 8);
    const campaigns = (await ask('performance', `group_by=campaign&${filters}`)).data
      .filter((row) => row.campaign !== null)
      .sort(by('revenue'));
    if (campaigns.length > 0) {
      expectTable(page.table('Campaigns with the highest revenue'), campaigns, (row) => String(row.campaign));
    }
  });

  it.each(['campaign', 'creative', 'os', 'media_source', 'item'])('breakdown by %s', async (group) => {
    const page = await read('/breakdown', `by=${group}&metric=impressions&sort=-impressions&${filters}`);
    const { data } = await ask('performance', `group_by=${group}&${filters}`);
    if (data.length === 0) return expect(page.texts('.empty')).toEqual(['Nothing in this period.']);
    const table = page.table(`Figures by ${group}`);
    const byKey = new Map(
      data.map((row) => [row[group] === null ? null : String(row[group]).toLowerCase(), row]),
    );
    expect(table.rows).toHaveLength(data.length);
    for (const cells of table.rows) {
      const name = (cells[0] ?? '').toLowerCase().replace(/^unity ads$/, 'unity_ads');
      const row = byKey.get(name) ?? byKey.get(null);
      expect(row).toBeDefined();
      expectFigures(table, cells, row, data);
    }
  });

  it('ads', async () => {
    const page = await read('/ads', filters);
    const { data } = await ask('ads', filters);
    const table = page.table('Ad figures by day, format and network');
    const newest = data.toSorted((left, right) =>
      String(left.day) < String(right.day) ? 1 : left.day === right.day ? 0 : -1,
    );
    expectTable(table, newest, dayIn, 5);
  });

  it.each(['classic', 'rolling'] as const)('retention, %s', async (kind) => {
    const page = await read('/retention', `kind=${kind}&${filters}`);
    const days = [0, 1, 2, 3, 4, 5, 6, 7, 14, 21, 30];
    const { data } = await ask('retention', `cohort=week&days=${days}&${filters}`);
    expectCohorts(
      page.table('Retention by cohort and day since acquisition'),
      data,
      days,
      (cell) => cell?.[kind],
      RATIOS,
    );
  });

  it.each(['ltv', 'roas'] as const)('LTV, table of %s', async (show) => {
    const page = await read('/ltv', `show=${show}&cohort=week&${filters}`);
    const days = [0, 1, 3, 7, 14, 21, 30, 60, 90];
    const { data } = await ask('ltv', `cohort=week&days=${days}&${filters}`);
    expectCohorts(
      page.table(
        show === 'ltv'
          ? 'Lifetime value by cohort and day since acquisition'
          : 'ROAS by cohort and day since acquisition',
      ),
      data,
      days,
      (cell) => cell?.[show],
      show === 'ltv' ? amountsIn('usd') : RATIOS,
    );
  });

  it('funnels', async () => {
    const page = await read('/funnels', `step=install&step=ad&step=purchase&${filters}`);
    const { data } = await ask('funnel', `steps=install,ad,purchase&${filters}`);
    const { rows } = page.table('Devices that reach each step');
    const places = RATIOS.places(
      data.flatMap((row) => [row.from_first, row.from_previous].filter((share) => typeof share === 'number')),
    );
    expect(rows.map((cells) => cells.slice(2))).toEqual(
      data.map((row) => [
        count(Number(row.devices)),
        percent(row.from_first as number | null, places),
        percent(row.from_previous as number | null, places),
        duration(row.median_seconds as number | null),
      ]),
    );
  });

  it('creatives', async () => {
    const columns = METRIC_NAMES.map((name) => `column=${name}`).join('&');
    const page = await read('/creatives', `${columns}&sort=name&${filters}`);
    const asked = `group_by=creative&metrics=${METRIC_NAMES.join()}&${filters}`;
    const { data, totals } = await ask('performance', asked);
    const table = page.table('Creatives');
    const rowOf = (cells: readonly string[]) =>
      data.find(({ creative }) => (cells[0] ?? '').startsWith(String(creative)));
    const shown = table.rows.flatMap((cells) => rowOf(cells) ?? []);
    for (const cells of table.rows) {
      const row = rowOf(cells);
      expect(expectFigures(table, cells, row, shown)).toBe(METRIC_NAMES.length);
    }
    expect(table.rows.length).toBe(filters.includes('campaign') ? 1 : 2);
    expect(expectFigures(table, table.totals, totals, shown)).toBe(METRIC_NAMES.length);
  });

  it('costs', async () => {
    const page = await read('/costs', filters);
    const { data } = await ask('performance', `group_by=day&${filters}`);
    expectTable(page.table('Costs by day'), data.toReversed(), dayIn);
  });

  it('compare', async () => {
    const page = await read('/compare', `by=creative&a={dragon}&b={castle}&${filters}`);
    const { data } = await ask('compare', `by=creative&a={dragon}&b={castle}&days=1,7,30&${filters}`);
    const isAmount = ({ metric }: Row) => metric === 'arpu';
    const numbersIn = (amounts: boolean, ...names: string[]) =>
      data
        .filter((row) => isAmount(row) === amounts)
        .flatMap((row) => names.map((name) => row[name]).filter((value) => typeof value === 'number'));
    const usd = amountsIn('usd');
    const places = {
      share: RATIOS.places(numbersIn(false, 'a', 'b')),
      amount: usd.places(numbersIn(true, 'a', 'b')),
    };
    const write = (row: Row, side: string) =>
      isAmount(row)
        ? usd.text(row[side] as number | null, places.amount)
        : percent(row[side] as number | null, places.share);
    const changed = (row: Row) => {
      if (typeof row.difference !== 'number') return '–';
      const sign = row.difference > 0 ? '+' : row.difference < 0 ? '−' : '';
      const size = Math.abs(row.difference);
      const decimals = usd.places(numbersIn(true, 'difference'));
      return sign + (isAmount(row) ? usd.text(size, decimals) : `${(size * 100).toFixed(2)} pts`);
    };
    expect(
      page
        .table('Dragon (Summer › Broad) against Castle (Autumn › Narrow)')
        .rows.map((cells) => cells.slice(2, 5)),
    ).toEqual(data.map((row) => [write(row, 'a'), write(row, 'b'), changed(row)]));
  });
});

function expectCohorts(
  { headings, rows }: ShownTable,
  data: readonly Row[],
  days: readonly number[],
  figureOf: (cell: Row['days'][string] | undefined) => number | null | undefined,
  { text, places }: FigureFormat,
): void {
  const cells = data.flatMap((row) => days.map((day) => row.days[day]));
  const decimals = places(cells.flatMap((cell) => (cell && cell.eligible > 0 ? (figureOf(cell) ?? []) : [])));
  expect(rows).toHaveLength(data.length);
  for (const [index, row] of data.entries()) {
    const shown = Object.fromEntries(headings.map((heading, at) => [heading, rows[index]?.[at]]));
    const expected = days.map((day) => {
      const cell = row.days[day];
      return [
        `Day ${day}`,
        cell && cell.eligible > 0 ? text(figureOf(cell) ?? null, decimals) : 'not over yet',
      ];
    });
    expect(shown).toMatchObject({ Devices: count(Number(row.size)), ...Object.fromEntries(expected) });
  }
}

it('shows a creative’s own figures, retention and LTV', async () => {
  const page = await read('/creatives/{dragon}', 'compare=none');
  const own = 'creative_id={dragon}&group_by=creative';
  const [whole] = (await ask('performance', own)).data;
  const metrics = ['spend', 'clicks', 'installs', 'cpi', 'revenue', 'roas', 'profit'] as const;
  expect(page.figures).toEqual(
    Object.fromEntries(
      metrics.map((name) => [METRIC_DEFINITIONS[name].label, showMetric(name, whole?.[name], 'usd')]),
    ),
  );
  const daily = (await ask('performance', 'creative_id={dragon}&group_by=day,creative')).data;
  expectTable(page.table('Figures by day'), daily.filter((row) => row.creative !== null).toReversed(), dayIn);
  const [retention] = (await ask('retention', `${own}&days=1,3,7,14,30`)).data;
  const [ltv] = (await ask('ltv', `${own}&days=1,3,7,14,30`)).data;
  const ages = [1, 3, 7, 14, 30];
  const column = (row: Row | undefined, name: 'classic' | 'ltv', { text, places }: FigureFormat) => {
    const values = ages.map((age) => row?.days[age]?.[name] ?? null);
    const decimals = places(values.filter((value) => value !== null));
    return values.map((value) => text(value, decimals));
  };
  const curve = page.card('ROAS by age').chart;
  expect(curve.labels.slice(0, 8)).toEqual([0, 1, 2, 3, 4, 5, 6, 7].map((day) => `Day ${day}`));
  const [paid] = (await ask('ltv', `${own}&days=0,7`)).data;
  for (const day of [0, 7])
    expect(curve.series[0]?.texts[day]).toBe(RATIOS.text(paid?.days[day]?.roas ?? null));
  expect(page.card('ROAS by age').text).toContain('100%, where revenue has paid back the spend');
  expect(page.table('Retention and LTV by days since the install').rows).toEqual(
    ages.map((day, index) => [
      `Day ${day}`,
      String(retention?.days[day]?.eligible),
      column(retention, 'classic', RATIOS)[index],
      column(ltv, 'ltv', amountsIn('usd'))[index],
    ]),
  );
});

it('lists the costs as the API does', async () => {
  const page = await read('/costs', '');
  const path = `/v1/costs?application_id=${tenant.application.id}&${PERIOD}`;
  const { data } = await (await worker.team(tenant, path)).json<{ data: Row[] }>();
  expect(data).toHaveLength(2);
  const rows = page.cells('Costs as uploaded', 'Day', 'Amount', 'Impressions', 'Clicks');
  expect(rows.toSorted()).toEqual(
    data
      .map((row) => [
        dayText(String(row.date), new Date().toISOString()),
        money(Number(row.amount), String(row.currency)),
        count(row.impressions as number | null),
        count(row.clicks as number | null),
      ])
      .toSorted(),
  );
});

const parse = (csv: string) => Papa.parse<Record<string, string>>(csv.trim(), { header: true }).data;

describe.each(FILTERS)('the CSV of a page with the filters “%s”', (filters) => {
  it.each([
    ['/ads', '', 'ads', ''],
    ['/retention', 'cohort=day', 'retention', `cohort=day&days=0,1,2,3,4,5,6,7,14,21,30`],
    ['/retention', 'group=creative', 'retention', `group_by=creative&days=0,1,2,3,4,5,6,7,14,21,30`],
    ['/ltv', 'group=campaign', 'ltv', `group_by=campaign&days=0,1,3,7,14,21,30,60,90`],
    ['/ltv', 'predict=90&table=predicted', 'predicted-ltv', 'horizon_days=90'],
    ['/funnels', 'step=install&step=ad', 'funnel', 'steps=install,ad'],
    ['/compare', 'by=creative&a={dragon}&b={castle}', 'compare', 'by=creative&a={dragon}&b={castle}'],
    ['/costs', '', 'performance', 'group_by=day'],
  ])('%s?%s equals the API’s', async (path, own, report, parameters) => {
    const shown = await (await open(path, `${own}&${filters}&format=csv`)).text();
    expect(shown).toBe(await (await api(report, `${parameters}&${filters}`, 'csv')).text());
  });

  it.each(['-installs', 'installs', '-revenue', 'creative'])(
    '/breakdown sorted by %s has the rows of the API',
    async (sort) => {
      const shown = parse(
        await (await open('/breakdown', `by=creative&sort=${sort}&${filters}&format=csv`)).text(),
      );
      const wanted = parse(await (await api('performance', `group_by=creative&${filters}`, 'csv')).text());
      const name = sort.replace('-', '');
      const values = shown.map((row) => row[name] ?? '');
      const known = values.filter((value) => value !== '');
      const numeric = name !== 'creative';
      const ordered = known.toSorted((left, right) =>
        numeric ? Number(left) - Number(right) : left.localeCompare(right, 'en'),
      );
      // Rows without a value come last in both directions.
      expect(values).toEqual([
        ...(sort.startsWith('-') ? ordered.toReversed() : ordered),
        ...values.filter((value) => value === ''),
      ]);
      const byId = (rows: Record<string, string>[]) =>
        rows.toSorted((a, b) => ((a.creative_id ?? '') < (b.creative_id ?? '') ? -1 : 1));
      expect(byId(shown)).toEqual(byId(wanted));
    },
  );

  it.each(['-revenue', 'name'])('/creatives sorted by %s has the figures of the API', async (sort) => {
    const shown = parse(
      await (await open('/creatives', `set=monetisation&sort=${sort}&${filters}&format=csv`)).text(),
    );
    const wanted = parse(await (await api('performance', `group_by=creative&${filters}`, 'csv')).text());
    expect(shown.length).toBeGreaterThan(0);
    for (const row of shown) {
      const own = wanted.find(({ creative_id }) => creative_id === row.creative_id);
      for (const name of ['revenue', 'ad_revenue', 'purchase_revenue', 'payers', 'dau', 'arpdau', 'ecpm']) {
        expect([name, row[name]]).toEqual([name, own?.[name] ?? '']);
      }
    }
  });
});
