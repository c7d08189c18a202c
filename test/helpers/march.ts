import { env } from 'cloudflare:workers';
import type { RollupTable } from '#catalogue';
import { newId } from '#lib/ids';
import { readParts } from '#rollup';
import type { Grain } from '../../src/rollup/cube/grains.ts';
import { Additions, NANOS_PER_HIGH, sumColumnsOf } from '../../src/rollup/tables.ts';
import { addRun } from './add-run.ts';
import { addRowsTo, rowsIn } from './cube.ts';

// Applications with parts of the cube of March and April 2026, and what reports read of them.

export const ALWAYS = { from: '2000-01-01', to: '2099-12-31' };
export type Query = { rollup: RollupTable; grain: Grain };

/** By key and segment, the sums that a report reads of these days. */
export async function read(applicationId: string, query: Query, days = ALWAYS, stores: typeof env = env) {
  const found = new Map<string, number[]>();
  for await (const part of readParts(stores, { applicationId, ...query, ...days }))
    addRowsTo(found, rowsOn(part, days));
  return sorted(found, query.rollup);
}

export const rowsOn = (part: Parameters<typeof rowsIn>[0], { from, to }: typeof ALWAYS) =>
  rowsIn(part).filter(({ key: [day = ''] }) => day >= from && day <= to);

/** Amounts as one number each: what they are split into depends on how they were added up. */
export function sorted(found: ReadonlyMap<string, number[]>, rollup: RollupTable) {
  const columns = sumColumnsOf(rollup);
  const whole = (sums: readonly number[]) =>
    columns.map((column, at) => {
      if (column.endsWith('_high')) return 0n;
      const high = columns[at + 1] === `${column}_high` ? (sums[at + 1] ?? 0) : 0;
      return BigInt(high) * BigInt(NANOS_PER_HIGH) + BigInt(sums[at] ?? 0);
    });
  return [...found].map(([name, sums]) => [name, whole(sums)] as const).sort(([a], [b]) => (a < b ? -1 : 1));
}

export const DAILY: Query = { rollup: 'rollup_daily', grain: 'both' };
export const MARCH = { ...DAILY, month: '2026-03' };

/** Adds a run: for each day, impressions by creative and segment. */
export async function addDays(
  applicationId: string,
  sequence: number,
  days: readonly string[],
  creatives = 3,
) {
  const additions = new Additions('rollup_daily');
  for (const day of days) {
    for (let creative = 0; creative < creatives; creative++) {
      const key = { application_id: applicationId, day, creative_id: `crt_${creative}`, currency: 'usd' };
      additions.add(key, creative % 2, { impressions: sequence, ad_revenue: 2 ** 53 - 1 });
    }
  }
  await addRun(env.DB, { applicationId, shard: 0, sequence }, additions);
}

export const march = (day: number) => `2026-03-${String(day).padStart(2, '0')}`;

/** An application with parts of March and April. */
export async function withMarch(): Promise<string> {
  const applicationId = newId('app');
  for (let sequence = 1; sequence <= 4; sequence++)
    await addDays(applicationId, sequence, [march(sequence), march(9), march(31), '2026-04-01']);
  return applicationId;
}

export const count = async (sql: string, applicationId: string) =>
  (await env.DB.prepare(sql).bind(applicationId).first<{ n: number }>())?.n;
export const hotParts = (applicationId: string) =>
  count(
    `SELECT count(*) AS n FROM cube_parts WHERE application_id = ? AND rollup = 'rollup_daily' AND grain = 'both'
      AND month = '2026-03' AND replaced_at IS NULL`,
    applicationId,
  );
export const months = (applicationId: string) =>
  count(
    'SELECT count(*) AS n FROM cube_months WHERE application_id = ? AND replaced_at IS NULL',
    applicationId,
  );
export const objects = async (prefix: string) =>
  (await env.RAW_EVENTS.list({ prefix })).objects.map(({ key }) => key);
