import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { MEASURES, ROLLUP_KEYS } from '#catalogue';
import { additionStatement } from '../../src/rollup/add-rows.ts';
import { FIXED_STEPS } from '../../src/rollup/step-format.ts';
import { ROLLUP_TABLES, sumColumnsOf } from '../../src/rollup/tables.ts';

// These lists are stored, though not by name: the position of a sum is its place in the rows that wait in a counter's outbox or are parked. A different order reads what is stored under
// other names, and no migration can tell the two apart.
//
// If this fails, restore the order. A new measure goes to the end of its list, and then to the end of its list here. A measure that is no
// longer used keeps its place. A key cannot change.

const SUMS = {
  rollup_daily: [
    'clicks',
    'installs',
    'active_devices',
    'sessions',
    'session_seconds',
    'custom_events',
    'ad_requests',
    'payers',
    'impressions',
    'ad_revenue',
    'ad_revenue_high',
    'purchases',
    'failed_purchases',
    'purchase_revenue',
    'purchase_revenue_high',
    'ended_sessions',
  ],
  rollup_hours: [
    'clicks',
    'installs',
    'sessions',
    'session_seconds',
    'custom_events',
    'ad_requests',
    'impressions',
    'ad_revenue',
    'ad_revenue_high',
    'purchases',
    'failed_purchases',
    'purchase_revenue',
    'purchase_revenue_high',
    'ended_sessions',
  ],
  rollup_ads: ['impressions', 'ad_revenue', 'ad_revenue_high', 'ad_requests'],
  rollup_items: ['purchases', 'failed_purchases', 'purchase_revenue', 'purchase_revenue_high'],
  rollup_custom: ['custom_events'],
  cohort_activity: ['active_devices', 'last_active_devices'],
  cohort_revenue: ['ad_revenue', 'ad_revenue_high', 'purchase_revenue', 'purchase_revenue_high'],
};

const KEYS = {
  rollup_daily: ['application_id', 'day', 'creative_id', 'currency'],
  rollup_hours: ['application_id', 'day', 'hour', 'creative_id', 'currency'],
  rollup_ads: ['application_id', 'day', 'source', 'media_source', 'placement', 'creative_id', 'currency'],
  rollup_items: ['application_id', 'day', 'item_id', 'creative_id', 'currency'],
  rollup_custom: ['application_id', 'day', 'event_name', 'creative_id'],
  cohort_activity: ['application_id', 'acquired_day', 'creative_id', 'age'],
  cohort_revenue: ['application_id', 'acquired_day', 'creative_id', 'day', 'currency'],
};

const TABLES = Object.keys(SUMS) as (keyof typeof SUMS)[];

it('has every rollup', () => {
  expect(Object.keys(MEASURES)).toEqual(TABLES);
});

it.each(TABLES)('keeps the order and the names of the sums of %s', (table) => {
  expect(sumColumnsOf(table)).toEqual(SUMS[table]);
});

it.each(TABLES)('keeps the order and the names of the key of %s', (table) => {
  expect(ROLLUP_KEYS[table]).toEqual(KEYS[table]);
});

it('keeps the fixed steps of funnel histories, whose number is also stored', () => {
  expect(FIXED_STEPS).toEqual(['install', 'retention', 'purchase', 'ad']);
});

it.each(ROLLUP_TABLES)('adds rows of %s from before its last measure existed', async (table) => {
  const key = KEYS[table].map((name) => (name === 'age' ? 3 : `a ${name}`));
  const sums = SUMS[table].slice(0, -1).map((_, index) => index + 1);
  const add = () => additionStatement(env.DB, table, [[...key, ...sums]]);
  await env.DB.batch([add(), add()]);
  const row = await env.DB.prepare(`SELECT * FROM ${table}`).first<Record<string, unknown>>();
  expect(SUMS[table].map((name) => row?.[name])).toEqual([...sums.map((sum) => sum * 2), 0]);
});
