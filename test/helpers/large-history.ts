import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { QUIET, ROOT, WRANGLER } from '../../src/cli/local-state.ts';
import { totalsOfRows } from './totals.ts';

const DAY_MS = 86_400_000;

/** Names that layouts break on: as long as they may be, without a space, right to left, and of emoji. */
export const ODD_NAMES = [
  'x'.repeat(200),
  'Очень длинное имя '.repeat(11).slice(0, 200),
  'إعلان اللعبة الجديدة مع مكافأة يومية للاعبين الجدد '.repeat(4).slice(0, 200),
  '🧑‍🚀🎮🔥'.repeat(28),
  '<b>&"\'</b>',
];

export type HistorySize = {
  creatives: number;
  days: number;
  /** Each creative has figures on one day in this many. */
  everyDays: number;
};

const text = (value: string) => `'${value.replaceAll("'", "''")}'`;

/** What a creative's day brings, in the order of the columns; `n` makes one day differ from the next. */
const DAILY = {
  clicks: '40 + n % 9',
  installs: '4 + n % 3',
  active_devices: '20 + n % 7',
  sessions: '30',
  session_seconds: '900',
  custom_events: '0',
  ad_requests: '0',
  payers: '1',
  impressions: '200 + n % 50',
  ad_revenue: '900000 + n * 1000',
  ad_revenue_high: '0',
  purchases: '1',
  failed_purchases: '0',
  purchase_revenue: '1990000',
};

/** The statements of a history that ends today: names, figures by day, networks, cohorts and costs. */
export function largeHistory(applicationId: string, size: HistorySize, now: number): string[] {
  const app = text(applicationId);
  const first = text(new Date(now - (size.days - 1) * DAY_MS).toISOString().slice(0, 10));
  const names = ODD_NAMES.map((name, index) => `(${index + 1}, ${text(name)})`).join(', ');
  const numbers = (name: string, count: number) =>
    `${name} (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM ${name} WHERE n < ${count})`;
  const odd = `odd (n, name) AS (VALUES ${names})`;
  const id = (prefix: string, n: string) => `${text(`${prefix}_`)} || printf('%032x', ${n})`;
  const named = (word: string) => `coalesce(odd.name, ${text(`${word} `)} || own.n)`;
  const network = `CASE n / ${size.everyDays} % 3 WHEN 0 THEN 'admob' WHEN 1 THEN 'unity_ads' ELSE ${text(ODD_NAMES[0] ?? '')} END`;
  const last = `date(${first}, '+${size.days - 1} days')`;
  const atAge = `date(day, '+' || ages.value || ' days')`;
  const cells = `cells (day, creative, n) AS (
    SELECT date(${first}, '+' || (days.n - 1) || ' days'), ${id('crt', 'own.n')}, own.n + days.n FROM days, own
    WHERE (own.n + days.n) % ${size.everyDays} = 0)`;
  const withCells = `WITH RECURSIVE ${numbers('own', size.creatives)}, ${numbers('days', size.days)}, ${cells}`;
  const withNames = (count: number) => `WITH RECURSIVE ${numbers('own', count)}, ${odd}`;
  const columns = Object.keys(DAILY);
  return [
    `INSERT INTO campaigns (id, application_id, name, created_at) ${withNames(20)}
      SELECT ${id('cmp', 'own.n')}, ${app}, ${named('Campaign')}, own.n FROM own LEFT JOIN odd ON odd.n = own.n`,
    `INSERT INTO adsets (id, application_id, campaign_id, name, created_at) ${withNames(100)}
      SELECT ${id('ads', 'own.n')}, ${app}, ${id('cmp', '1 + own.n % 20')}, ${named('Ad set')}, own.n
      FROM own LEFT JOIN odd ON odd.n = own.n`,
    `INSERT INTO creatives (id, application_id, adset_id, name, token, created_at) ${withNames(size.creatives)}
      SELECT ${id('crt', 'own.n')}, ${app}, ${id('ads', '1 + own.n % 100')}, ${named('Creative')},
        'large_history_' || own.n, own.n FROM own LEFT JOIN odd ON odd.n = own.n`,
    `INSERT INTO rollup_daily (application_id, day, creative_id, currency, ${columns.join(', ')}) ${withCells}
      SELECT ${app}, day, creative, 'usd', ${Object.values(DAILY).join(', ')} FROM cells`,
    `INSERT INTO rollup_ads (application_id, day, source, media_source, placement, creative_id, currency, impressions,
        ad_revenue) ${withCells}
      SELECT ${app}, day, 'banner', ${network}, 'main', creative, 'usd', ${DAILY.impressions}, ${DAILY.ad_revenue} FROM cells`,
    `INSERT INTO cohort_activity (application_id, acquired_day, creative_id, age, active_devices, last_active_devices) ${withCells}
      SELECT ${app}, day, creative, ages.value, max(1, 4 - ages.value), 1
      FROM cells, json_each('[0, 1, 7]') AS ages WHERE ${atAge} <= ${last}`,
    `INSERT INTO cohort_revenue (application_id, acquired_day, creative_id, day, currency, ad_revenue, purchase_revenue) ${withCells}
      SELECT ${app}, day, creative, ${atAge}, 'usd', 100000, 500000
      FROM cells, json_each('[0, 3]') AS ages WHERE ${atAge} <= ${last}`,
    `INSERT INTO costs (application_id, day, campaign, currency, amount, updated_at)
      WITH RECURSIVE ${numbers('days', size.days)}
      SELECT ${app}, date(${first}, '+' || (days.n - 1) || ' days'), campaigns.name, 'usd', 5000000, 0
      FROM days, campaigns WHERE campaigns.application_id = ${app}`,
    ...totalsOfRows(),
  ];
}

/** Adds a large history to the local database of a running service directly, because its API would take an hour. */
export async function addLargeHistory(
  stateDir: string,
  applicationId: string,
  size: HistorySize,
): Promise<void> {
  const file = path.join(stateDir, 'large-history.sql');
  await writeFile(file, `${largeHistory(applicationId, size, Date.now()).join(';\n')};\n`);
  const args = ['d1', 'execute', 'DB', '--local', '--yes', '--persist-to', stateDir, '--file', file];
  await promisify(execFile)(process.execPath, [WRANGLER, ...args], {
    cwd: ROOT,
    env: { ...process.env, ...QUIET },
  });
}
