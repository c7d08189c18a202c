import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import { HOURS_KEPT_DAYS, hourIdOf, type LoggedEvent, SegmentBook } from '#catalogue';
import { newId } from '#lib/ids';
import { DAY_MS, zoneOffset } from '#lib/time';
import { pruneHours } from '#rollup';
import { addFigures } from '../helpers/figures.ts';
import { tally } from '../helpers/tally.ts';
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
  it('adds up by hour and by day', () => {
    const { hours, daily } = count([
      click('2026-03-01T09:00:00Z'),
      click('2026-03-01T09:59:59Z'),
      click('2026-03-01T10:00:00Z'),
    ]);
    const rows = [...hours.rows()].map(([, day, hour, creative, currency, clicks]) => [
      ...[day, hour, creative, currency, clicks],
    ]);
    expect(rows).toEqual([
      ['2026-03-01', '2026-03-01T09:00:00+00:00', 'crt_1', '', 2],
      ['2026-03-01', '2026-03-01T10:00:00+00:00', 'crt_1', '', 1],
    ]);
    expect([...daily.rows()]).toHaveLength(1);
  });

  it('has no hours for events that arrived too late, only their day', () => {
    const late = click('2026-03-01T09:00:00Z', { received_at: Date.UTC(2026, 5, 1) });
    const { hours, daily } = count([late]);
    expect([...hours.rows()]).toEqual([]);
    expect([...daily.rows()]).toHaveLength(1);
  });

  it('names an hour with its offset, before and after UTC', () => {
    const hourOf = (at: string, zone_offset: number) =>
      [...count([click(at, { zone_offset })]).hours.rows()][0]?.[2];
    expect(hourOf('2026-03-01T09:10:00Z', 345)).toBe('2026-03-01T14:00:00+05:45');
    expect(hourOf('2026-03-01T09:10:00Z', -150)).toBe('2026-03-01T06:00:00-02:30');
  });
});

it('figures by hour are in the cube alone, with all creatives together and by creative', async () => {
  const applicationId = newId('app');
  const hour = '2026-03-01T09:00:00+00:00';
  await addFigures(env.DB, applicationId, 'rollup_hours', [
    {
      day: '2026-03-01',
      hour,
      creative_id: 'crt_1',
      currency: 'usd',
      impressions: 1,
      ad_revenue: 2 ** 53 - 1,
    },
    { day: '2026-03-01', hour, creative_id: 'crt_2', currency: 'usd', impressions: 2 },
  ]);
  const { results } = await env.DB.prepare(
    'SELECT rollup, grain, rows FROM cube_parts WHERE application_id = ? ORDER BY grain',
  )
    .bind(applicationId)
    .all();
  expect(results).toEqual([
    { rollup: 'rollup_hours', grain: 'creative', rows: 2 },
    { rollup: 'rollup_hours', grain: 'total', rows: 1 },
  ]);
});

describe('pruneHours', () => {
  const NOW = Date.UTC(2026, 3, 15, 12);

  const addDay = (applicationId: string, day: string) =>
    Promise.all(
      (['rollup_hours', 'rollup_daily'] as const).map((rollup) =>
        addFigures(env.DB, applicationId, rollup, [{ day, creative_id: 'crt_1', clicks: 1 }]),
      ),
    );
  const daysIn = async (applicationId: string, rollup: string) => {
    const { results } = await env.DB.prepare(
      `SELECT DISTINCT to_day FROM cube_parts WHERE application_id = ? AND rollup = ? ORDER BY to_day`,
    )
      .bind(applicationId, rollup)
      .all<{ to_day: string }>();
    return results.map(({ to_day }) => to_day);
  };

  it('deletes only the hours that no report reads', async () => {
    const { application } = await createTenant();
    const days = ['2026-03-11', '2026-03-12', '2026-03-13', '2026-03-14', '2026-04-15'];
    for (const day of days) await addDay(application.id, day);
    await pruneHours(env.DB, NOW);
    // 32 days before April 15th is March 14th. One more day is kept for zones where it is still the day before.
    expect(await daysIn(application.id, 'rollup_hours')).toEqual(['2026-03-13', '2026-03-14', '2026-04-15']);
    expect(await daysIn(application.id, 'rollup_daily')).toEqual(days);
  });

  it('deletes at most a thousand parts per call', async () => {
    const { application } = await createTenant();
    await addDay(application.id, '2026-01-01');
    await env.DB.prepare(
      `WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 1000)
        INSERT INTO cube_parts SELECT application_id, rollup, grain, month, from_day, to_day, shard, 1000000 + n, number, level, rows,
          replaced_at, bytes, data FROM cube_parts CROSS JOIN number
        WHERE application_id = ? AND rollup = 'rollup_hours' AND grain = 'creative'`,
    )
      .bind(application.id)
      .run();
    const left = async () =>
      env.DB.prepare(
        "SELECT count(*) AS parts FROM cube_parts WHERE application_id = ? AND rollup = 'rollup_hours'",
      )
        .bind(application.id)
        .first<number>('parts');
    expect(await left()).toBe(1_002);
    await pruneHours(env.DB, NOW);
    expect(await left()).toBe(2);
    await pruneHours(env.DB, NOW);
    expect(await left()).toBe(0);
  });
});
