import { env } from 'cloudflare:workers';
import { expect } from 'vitest';
import { createCreative } from '../helpers/creatives.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import type { TestWorker } from '../helpers/worker.ts';
import { type Sent, startHistory } from './history.ts';
import * as naive from './naive.ts';

// A history whose every figure is known, and the questions about it.

export type Row = Record<string, string | number | null>;

/** Daylight saving begins on March 29th in Berlin and ends on April 5th in Lord Howe, by half an hour. */
export const PERIOD = { from: '2026-03-26', to: '2026-04-10' };
export const DEVICES = 40;

/** Two ad sets of one campaign share the name of a creative, and two campaigns that of an ad set. */
export const CREATIVES = [
  { campaign: 'Spring', adset: 'Young', creative: 'Cat' },
  { campaign: 'Spring', adset: 'Old', creative: 'Cat' },
  { campaign: 'Autumn', adset: 'Young', creative: 'Dog' },
];

export type Cost = {
  date: string;
  campaign: string;
  adset?: string;
  creative?: string;
  country?: string;
  os?: string;
  network?: string;
  currency: string;
  amount: number;
  impressions?: number;
};
export const COSTS: Cost[] = [
  { date: '2026-03-27', campaign: 'Spring', currency: 'eur', amount: 12.5, impressions: 4_321 },
  { date: '2026-03-29', campaign: 'Spring', adset: 'Young', currency: 'usd', amount: 3.25 },
  {
    date: '2026-03-29',
    campaign: 'Spring',
    adset: 'Old',
    creative: 'Cat',
    currency: 'usd',
    amount: 4,
    impressions: 713,
  },
  { date: '2026-03-29', campaign: 'Autumn', currency: 'jpy', amount: 700 },
  { date: '2026-04-02', campaign: 'Autumn', adset: 'Young', creative: 'Dog', currency: 'eur', amount: 2 },
  { date: '2026-04-03', campaign: 'Autumn', creative: 'Cow', currency: 'eur', amount: 0.000001 },
  { date: '2026-04-03', campaign: 'Winter', adset: 'Young', currency: 'eur', amount: 1 },
  // By country, by OS and by network, beside what is of none; and of a country that no device is in.
  { date: '2026-03-30', campaign: 'Spring', country: 'de', currency: 'usd', amount: 6.5, impressions: 97 },
  { date: '2026-03-30', campaign: 'Spring', country: 'US', os: 'iOS', currency: 'jpy', amount: 950 },
  { date: '2026-03-30', campaign: 'Spring', currency: 'usd', amount: 1.75 },
  { date: '2026-03-31', campaign: 'Autumn', adset: 'Young', os: 'android', currency: 'eur', amount: 4.2 },
  {
    date: '2026-03-31',
    campaign: 'Autumn',
    adset: 'Young',
    os: 'ios',
    network: 'tiktok',
    currency: 'chf',
    amount: 3,
    impressions: 1_009,
  },
  {
    date: '2026-04-01',
    campaign: 'Autumn',
    adset: 'Young',
    creative: 'Dog',
    network: 'TikTok Ads',
    country: 'JP',
    currency: 'usd',
    amount: 2.25,
  },
  {
    date: '2026-04-01',
    campaign: 'Spring',
    adset: 'Young',
    creative: 'Cat',
    network: 'meta',
    country: 'ZA',
    currency: 'usd',
    amount: 0.5,
  },
];
/** What costs may state beside the names. */
export const STATED = ['country', 'os', 'network'] as const;
const NETWORK_NAMES: Record<string, string> = { 'TikTok Ads': 'tiktok' };
/** What a cost states, as devices have it; empty text for what it does not. */
export const statedBy = ({ country = '', os = '', network = '' }: Cost) => ({
  country: country.toUpperCase(),
  os: os.toLowerCase(),
  network: NETWORK_NAMES[network] ?? network,
});

export type Rates = { date: string; base: string; rates: Record<string, number | string> };
/** In US dollars. The yen has no rate before the 30th, the Swiss franc none at all. */
export const RATES: Rates[] = [
  { date: '2026-03-20', base: 'usd', rates: { eur: 1.0817 } },
  { date: '2026-03-30', base: 'usd', rates: { eur: '1.0921', jpy: 0.00667 } },
];

/** Every currency has a rate throughout, and none keeps it: the day of earning decides. */
export const CHANGING_RATES: Rates[] = [
  { date: '2026-03-20', base: 'usd', rates: { eur: 1.05, jpy: 0.0061, chf: 1.11 } },
  { date: '2026-03-28', base: 'usd', rates: { eur: 1.25, jpy: 0.0072, chf: 1.01 } },
  { date: '2026-03-31', base: 'usd', rates: { eur: 0.95, jpy: 0.0055, chf: 1.31 } },
  { date: '2026-04-04', base: 'usd', rates: { eur: 1.45, jpy: 0.0083, chf: 0.91 } },
];
export const CURRENCIES = ['usd', 'eur', 'jpy', 'chf'];

const scaled = (value: number | string): naive.Ratio => {
  const [whole = '', part = ''] = String(value).split('.');
  return [BigInt(whole + part), 10n ** BigInt(part.length)];
};

/** The value of a currency in US dollars: that day's, else the latest earlier one. */
function inDollars(published: readonly Rates[], currency: string, day: string): naive.Ratio | null {
  if (currency === 'usd') return [1n, 1n];
  const known = published.filter(({ date, rates }) => date <= day && Object.hasOwn(rates, currency)).at(-1);
  return known ? scaled(known.rates[currency] ?? 0) : null;
}

export const rateInto =
  (published: readonly Rates[], target: string): naive.RateOn =>
  (currency, day) => {
    if (currency === target) return [1n, 1n];
    const [from, to] = [inDollars(published, currency, day), inDollars(published, target, day)];
    return from && to ? [from[0] * to[1], from[1] * to[0]] : null;
  };

export type History = {
  zone: string;
  currency: string;
  seed: number;
  published?: readonly Rates[];
  currencies?: string[];
  /** Some refunds are of another currency than their purchase. */
  foreignRefunds?: boolean;
  shards?: number;
  /** What the application does with installs that it doubts: flagged ones count as before, excluded ones as organic. */
  doubts?: 'flag' | 'exclude';
  /** Called between two parts of the history. It sends the second part itself. */
  between?: (tenant: Tenant, sendRest: () => Promise<void>) => Promise<void>;
};

/** Uploads exchange rates; those of the same day and currency replace earlier ones. */
export async function uploadRates(
  worker: TestWorker,
  tenant: Tenant,
  published: readonly Rates[],
): Promise<void> {
  for (const rates of published) {
    const answer = await worker.team(tenant, '/v1/exchange-rates', { method: 'PUT', body: rates });
    expect(answer.status).toBe(200);
  }
}

/** Uploads or deletes costs. */
export async function changeCosts(
  worker: TestWorker,
  tenant: Tenant,
  method: 'PUT' | 'DELETE',
  rows: readonly Partial<Cost>[],
): Promise<void> {
  const body = { application_id: tenant.application.id, rows };
  expect((await worker.team(tenant, '/v1/costs', { method, body })).status).toBe(200);
}

/** The rule by which the history has installs to doubt. */
export const DOUBTING_RULE = 'click_after_install_began';

/** An application with the creatives of `CREATIVES`, whose ids and tokens are answered, and as many counters as are asked for. */
export async function startTenant(
  worker: TestWorker,
  { zone, currency, shards = 1, doubts }: Pick<History, 'zone' | 'currency' | 'shards' | 'doubts'>,
): Promise<{ tenant: Tenant; creatives: { id: string; token: string }[] }> {
  const rules = doubts ? { fraud_rules: { [DOUBTING_RULE]: { action: doubts } } } : {};
  const tenant = await createTenant({ timezone: zone, currency, ...rules });
  await env.DB.prepare('UPDATE applications SET shards = ? WHERE id = ?')
    .bind(shards, tenant.application.id)
    .run();
  const creatives: { id: string; token: string }[] = [];
  for (const names of CREATIVES) creatives.push(await createCreative(worker, tenant, names));
  return { tenant, creatives };
}

/** Sends a history, its costs and exchange rates. What counts nowhere is left out of `sent`; `creatives` are the ids of `CREATIVES`. */
export async function startOracle(
  worker: TestWorker,
  options: History,
): Promise<{ tenant: Tenant; creatives: string[]; sent: Sent[] }> {
  const { zone, seed, published = RATES, currencies = CURRENCIES, between } = options;
  const { tenant, creatives } = await startTenant(worker, options);
  const { sent: history, sendRest } = await startHistory(worker, tenant, {
    keepsSome: between !== undefined,
    creativeTokens: creatives.map(({ token }) => token),
    seed,
    start: PERIOD.from,
    days: 16,
    devices: DEVICES,
    zone,
    currencies,
    foreignRefunds: options.foreignRefunds === true,
    excludesDoubted: options.doubts === 'exclude',
  });
  await uploadRates(worker, tenant, published);
  await changeCosts(worker, tenant, 'PUT', COSTS);
  await between?.(tenant, sendRest);
  return { tenant, creatives: creatives.map(({ id }) => id), sent: history.filter(naive.isCounted) };
}

export type Report = {
  data: Row[];
  totals: Row;
  unconverted: unknown;
  devices_with_incomplete_history?: number;
  [field: string]: unknown;
};

export async function askReport(
  worker: TestWorker,
  tenant: Tenant,
  name: string,
  query: string,
  { from, to } = PERIOD,
): Promise<Report> {
  const answer = await worker.team(
    tenant,
    `/v1/reports/${name}?application_id=${tenant.application.id}&from=${from}&to=${to}&${query}`,
  );
  const body: Report = await answer.json();
  expect(answer.status, JSON.stringify(body)).toBe(200);
  noteReport(body, `${name}?${query}`);
  return body;
}

/** Which report each row and each of its cells is of, for the messages of failures. */
const reportOf = new WeakMap<object, string>();

function noteReport(value: unknown, report: string): void {
  if (typeof value !== 'object' || value === null) return;
  reportOf.set(value, report);
  for (const part of Object.values(value)) noteReport(part, report);
}

const shown = (value: unknown) => (value === undefined ? 'nothing' : JSON.stringify(value));

/** Equal as floating-point numbers are: amounts are rounded to a nano once, in either way of counting. */
export function expectFigures(actual: Row | undefined, expected: Record<string, unknown>, what: string) {
  const report = (actual && reportOf.get(actual)) ?? 'a report without such a row';
  const isSame = (name: string, value: unknown) => {
    const found = actual?.[name];
    if (typeof value !== 'number') return shown(found) === shown(value);
    return Math.abs(Number(found ?? Number.NaN) - value) < 1e-9 * Math.max(1, Math.abs(value));
  };
  const off = Object.entries(expected)
    .filter(([name, value]) => !isSame(name, value))
    .map(([name, value]) => `${name}: expected ${shown(value)}, got ${shown(actual?.[name])}`);
  expect(off, `${report} › ${what}`).toEqual([]);
}

/** The Monday of a day's week, computed differently from the service. */
export const monday = (day: string) => {
  const at = new Date(`${day}T00:00:00Z`);
  return new Date(at.getTime() - ((at.getUTCDay() + 6) % 7) * 86_400_000).toISOString().slice(0, 10);
};

export type Unplaced = readonly { nanos: bigint; impressions?: number }[];
export const isSpendIn = (costs: Unplaced) => costs.some(({ nanos }) => nanos !== 0n);
/** Figures of a row that other costs may be of, too: what is computed from them is unknown, and their own sums are so if they are 0. */
export function whereKnown(figures: Record<string, unknown>, unplaced: Unplaced): Record<string, unknown> {
  const isShownIn = unplaced.some(({ impressions = 0 }) => impressions > 0);
  const unknown = [
    ...(isSpendIn(unplaced)
      ? [
          ...['profit', 'profit_net', 'cpi', 'cpc', 'cpm'],
          ...['roas', 'roas_net', 'roas_blended', 'roas_blended_net', 'roas_unconverted'],
          ...Object.keys(figures).filter((name) => /^roas_(net_)?d/.test(name)),
        ]
      : []),
    ...(isShownIn ? ['ctr', 'ipm', 'cpm'] : []),
  ];
  return {
    ...figures,
    ...(isSpendIn(unplaced)
      ? { spend: figures.spend === undefined ? undefined : figures.spend || null }
      : {}),
    ...(isShownIn
      ? {
          ad_impressions_bought:
            figures.ad_impressions_bought === undefined ? undefined : figures.ad_impressions_bought || null,
        }
      : {}),
    ...Object.fromEntries(
      unknown
        .filter((name) => figures[name] !== undefined)
        .map((name) => [name, name === 'roas_unconverted' ? undefined : null]),
    ),
  };
}
