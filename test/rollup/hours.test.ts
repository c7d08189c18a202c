import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import { HOURS_KEPT_DAYS, hourIdOf, type LoggedEvent, SegmentBook } from '#catalogue';
import { newId } from '#lib/ids';
import { DAY_MS, zoneOffset } from '#lib/time';
import { pruneHours } from '#rollup';
import { additionStatement } from '../../src/rollup/add-rows.ts';
import { HourAdditions } from '../../src/rollup/hours.ts';
import { sumColumnsOf } from '../../src/rollup/tables.ts';
import { tally } from '../../src/rollup/tally.ts';
import { createTenant } from '../helpers/tenant.ts';

// Figures by hour: which hour an event belongs to, what is added up, and what is forgotten.

/** A click, which is of no device, at an instant. */
function click(at: string, more: Partial<LoggedEvent> = {}): LoggedEvent {
  const occurred_at = Date.parse(at);
  return {
    id: newId('evt'),
    application_id: 'app_1',
    type: 'click',
    creative_id: 'crt_1',
    day: at.slice(0, 10),
    occurred_at,
    received_at: occurred_at,
    ...more,
  } as LoggedEvent;
}

const count = (events: LoggedEvent[]) =>
  tally(events, {
    devices: new Map(),
    keys: new Map(),
    revokedTokens: new Map(),
    segments: new SegmentBook(),
  });

describe('the hour of an event', () => {
  const ids = (timezone: string, ...times: string[]) =>
    times.map((at) => {
      const instant = Date.parse(at);
      return hourIdOf({
        occurred_at: instant,
        received_at: instant,
        zone_offset: zoneOffset(timezone, instant),
      });
    });

  it('is the local hour, whose minutes can differ from UTC', () => {
    const [first, second, third] = ids(
      'Asia/Kathmandu',
      '2026-03-01T18:14:59Z',
      '2026-03-01T18:15:00Z',
      '2026-03-01T19:14:59Z',
    );
    // 23:59:59, then midnight to 00:59:59.
    expect(Math.floor((first ?? 0) / 256)).toBe(23);
    expect(Math.floor((second ?? 0) / 256)).toBe(0);
    expect(third).toBe(second);
  });

  it('is repeated as two hours when clocks are set back', () => {
    const [before, after] = ids('America/New_York', '2026-11-01T05:30:00Z', '2026-11-01T06:30:00Z');
    expect([before, after].map((id) => Math.floor((id ?? 0) / 256))).toEqual([1, 1]);
    expect(before).not.toBe(after);
  });

  it('is left out when clocks are set forward', () => {
    const hours = ids('America/New_York', '2026-03-08T06:59:00Z', '2026-03-08T07:00:00Z');
    expect(hours.map((id) => Math.floor((id ?? 0) / 256))).toEqual([1, 3]);
  });

  it('gets a separate id for the half hour by which clocks are set back', () => {
    const hours = ids(
      'Australia/Lord_Howe',
      '2026-04-04T14:59:00Z',
      '2026-04-04T15:00:00Z',
      '2026-04-04T15:30:00Z',
    );
    expect(hours.map((id) => Math.floor((id ?? 0) / 256))).toEqual([1, 1, 2]);
    expect(new Set(hours).size).toBe(3);
  });

  it('is missing for an event that arrived after its hour was deleted', () => {
    const occurred_at = Date.UTC(2026, 2, 1);
    const last = occurred_at + (HOURS_KEPT_DAYS + 1) * DAY_MS;
    expect(hourIdOf({ occurred_at, received_at: last })).not.toBeNull();
    expect(hourIdOf({ occurred_at, received_at: last + 1 })).toBeNull();
  });
});

describe('a tally', () => {
  it('adds up the hours of a day in one row', () => {
    const { hours, daily } = count([
      click('2026-03-01T09:00:00Z'),
      click('2026-03-01T09:59:59Z'),
      click('2026-03-01T10:00:00Z'),
    ]);
    const row = ['app_1', '2026-03-01', 'crt_1', ''];
    expect([...hours.rows()]).toEqual([[...row, `[${9 * 256 + 128},2],[${10 * 256 + 128},1]`]]);
    expect([...daily.rows()]).toHaveLength(1);
  });

  it('has no hours for events that arrived too late, only their day', () => {
    const late = click('2026-03-01T09:00:00Z', { received_at: Date.UTC(2026, 5, 1) });
    const { hours, daily } = count([late]);
    expect([...hours.rows()]).toEqual([]);
    expect([...daily.rows()]).toHaveLength(1);
  });
});

describe('a row of hours', () => {
  it('adds up exactly over many runs, even if its hours are merged in between', async () => {
    const { application } = await createTenant();
    const key = { application_id: application.id, day: '2026-03-01', creative_id: '', currency: 'usd' };
    const large = 2 ** 53 - 1;
    for (let run = 0; run < 40; run++) {
      const additions = new HourAdditions();
      additions.add(key, 2_432, { impressions: 1, ad_revenue: large });
      additions.add(key, 2_688 + (run % 2), { clicks: 2 });
      await additionStatement(env.DB, 'rollup_hours', [...additions.rows()]).run();
    }
    const row = await env.DB.prepare('SELECT hours, hour_parts FROM rollup_hours WHERE application_id = ?')
      .bind(application.id)
      .first<{ hours: string; hour_parts: number }>();
    const hours: number[][] = JSON.parse(`[${row?.hours}]`);
    const columns = sumColumnsOf('rollup_hours');
    const sum = (id: number, column: string) =>
      hours
        .filter(([own]) => own === id)
        .reduce((total, sums) => total + BigInt(sums[columns.indexOf(column) + 1] ?? 0), 0n);
    expect(sum(2_432, 'impressions')).toBe(40n);
    expect(sum(2_432, 'ad_revenue_high') * 10n ** 12n + sum(2_432, 'ad_revenue')).toBe(40n * BigInt(large));
    expect([sum(2_688, 'clicks'), sum(2_689, 'clicks')]).toEqual([40n, 40n]);
    expect(row?.hour_parts).toBeLessThanOrEqual(16);
    // Two of each run would be 80.
    expect(hours.length).toBeLessThan(40);
  });
});

describe('pruneHours', () => {
  const NOW = Date.UTC(2026, 3, 15, 12);

  it('deletes only the hours that no report reads', async () => {
    const { application } = await createTenant();
    const days = ['2026-03-11', '2026-03-12', '2026-03-13', '2026-03-14', '2026-04-15'];
    const events = days.map((day) => click(`${day}T10:00:00Z`, { application_id: application.id }));
    const { hours, daily } = count(events);
    await env.DB.batch([
      additionStatement(env.DB, 'rollup_hours', [...hours.rows()]),
      additionStatement(env.DB, 'rollup_daily', [...daily.rows()]),
    ]);
    await pruneHours(env.DB, NOW);
    const daysIn = async (table: string) => {
      const { results } = await env.DB.prepare(
        `SELECT day FROM ${table} WHERE application_id = ? ORDER BY day`,
      )
        .bind(application.id)
        .all<{ day: string }>();
      return results.map(({ day }) => day);
    };
    // 32 days before April 15th is March 14th. One more day is kept for zones where it is still the day before.
    expect(await daysIn('rollup_hours')).toEqual(['2026-03-13', '2026-03-14', '2026-04-15']);
    expect(await daysIn('rollup_daily')).toEqual(days);
  });

  it('deletes at most a thousand rows per call', async () => {
    const { application } = await createTenant();
    const events = Array.from({ length: 1_001 }, (_, index) =>
      click('2026-01-01T10:00:00Z', { application_id: application.id, creative_id: `crt_${index}` }),
    );
    await additionStatement(env.DB, 'rollup_hours', [...count(events).hours.rows()]).run();
    const left = async () =>
      env.DB.prepare('SELECT count(*) AS rows FROM rollup_hours WHERE application_id = ?')
        .bind(application.id)
        .first<number>('rows');
    await pruneHours(env.DB, NOW);
    expect(await left()).toBe(1);
    await pruneHours(env.DB, NOW);
    expect(await left()).toBe(0);
  });
});
