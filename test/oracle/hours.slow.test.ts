import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { memoize } from '#lib/collections/memoize';
import { createCreative } from '../helpers/creatives.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';
import { localDay, type Sent, sendHistory } from './history.ts';
import * as naive from './naive.ts';

type Row = Record<string, string | number | null>;

const HOURLY = [
  ...[
    'clicks',
    'installs',
    'doubted_installs',
    'net_installs',
    'sessions',
    'session_seconds',
    'average_session_seconds',
    'impressions',
    'ad_revenue',
    'ecpm',
    'ad_requests',
  ],
  ...['fill_rate', 'purchases', 'failed_purchases', 'purchase_revenue', 'revenue', 'events'],
];
const RATIOS = ['average_session_seconds', 'ecpm', 'fill_rate'];
const DAILY_ONLY = [
  ...['ad_impressions_bought', 'ctr', 'ipm', 'cpc', 'cpm'],
  ...['refunds', 'refunded_revenue', 'net_revenue'],
  ...['dau', 'payers', 'arpdau', 'arppu', 'spend', 'profit', 'cpi', 'roas', 'roas_blended'],
  ...['arpdau_net', 'arppu_net', 'profit_net', 'roas_net', 'roas_blended_net'],
];

const hourIn = memoize(
  100,
  (zone: string) =>
    new Intl.DateTimeFormat('en-GB', {
      timeZone: zone,
      hour: '2-digit',
      hourCycle: 'h23',
      timeZoneName: 'longOffset',
    }),
);

/** The hour of a clock in a zone with its offset, computed differently from the service. */
function localHour(zone: string, at: number): string {
  const parts = hourIn(zone).formatToParts(at);
  const part = (type: string) => parts.find((one) => one.type === type)?.value ?? '';
  return `${localDay(zone, at)}T${part('hour')}:00:00${part('timeZoneName').slice('GMT'.length) || '+00:00'}`;
}

describe.each([
  // Clocks are set back: a day of 25 hours, one of 24 and a half, and none; set forward: one of 23.
  { zone: 'America/New_York', start: '2026-10-26', seed: 11, changes: '2026-11-01' },
  { zone: 'Australia/Lord_Howe', start: '2026-03-30', seed: 12, changes: '2026-04-05' },
  { zone: 'Asia/Kathmandu', start: '2026-06-01', seed: 13, changes: null },
  { zone: 'Europe/Berlin', start: '2026-03-24', seed: 14, changes: '2026-03-29' },
])('every figure by hour in $zone', ({ zone, start, seed, changes }) => {
  const worker = startWorker();
  const days = 9;
  const first = Date.parse(start);
  const day = (number: number) => new Date(first + number * 86_400_000).toISOString().slice(0, 10);
  // West of UTC, the first devices come on the day before.
  const [from, to] = [day(-1), day(2 * days + 1)];
  const creatives: string[] = [];
  let tenant: Tenant;
  let sent: Sent[];
  const rateOn: naive.RateOn = () => [1n, 1n];

  beforeAll(async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: first + (2 * days + 1) * 86_400_000 + 15 * 3_600_000 });
    tenant = await createTenant({ timezone: zone });
    const tokens: string[] = [];
    for (const creative of ['Cat', 'Dog']) {
      const made = await createCreative(worker, tenant, { campaign: 'Spring', adset: 'Young', creative });
      creatives.push(made.id);
      tokens.push(made.token);
    }
    const options = { creativeTokens: tokens, seed, start, days, devices: 40, zone, currencies: ['usd'] };
    sent = (await sendHistory(worker, tenant, options)).filter(naive.isCounted);
  });
  afterAll(() => {
    vi.useRealTimers();
  });

  async function report(query: string, last = to) {
    const answer = await worker.team(
      tenant,
      `/v1/reports/performance?application_id=${tenant.application.id}&from=${from}&to=${last}&${query}`,
    );
    const body = (await answer.json()) as { data: Row[]; totals: Row };
    expect(answer.status, JSON.stringify(body)).toBe(200);
    return body;
  }
  const expected = (events: Sent[], lacking: readonly string[] = DAILY_ONLY) => {
    const figures: Record<string, unknown> = naive.performance(events, sent, [], 1, rateOn);
    return { ...figures, ...Object.fromEntries(lacking.map((name) => [name, null])) };
  };
  /** Events by key, without groups in which nothing counts by hour, such as a repeated session. */
  function groupsOf(events: Sent[], keyOf: (event: Sent) => string) {
    const groups = [...Map.groupBy(events, keyOf)];
    return new Map(
      groups.filter(([, own]) => {
        const figures = naive.performance(own, sent, [], 1, rateOn);
        return Object.entries(figures).some(([name, value]) => HOURLY.includes(name) && value);
      }),
    );
  }
  const hourOf = ({ at }: Sent) => localHour(zone, at);
  function expectFigures(actual: Row | undefined, events: Sent[], what: string) {
    for (const [name, value] of Object.entries(expected(events))) {
      const message = `${name} of ${what}`;
      if (typeof value === 'number') expect(actual?.[name], message).toBeCloseTo(value, 6);
      else expect(actual?.[name], message).toBe(value);
    }
  }

  it('covers the day on which clocks change', () => {
    const hours = new Set(sent.filter((event) => event.day === changes).map(({ at }) => localHour(zone, at)));
    expect(new Set([...hours].map((hour) => hour.slice(-6))).size).toBe(changes === null ? 0 : 2);
  });

  it('has ordered hours that add up to their day', async () => {
    const { data, totals } = await report('group_by=hour');
    const groups = groupsOf(sent, hourOf);
    const order = [...groups].sort(([, [left]], [, [right]]) => (left?.at ?? 0) - (right?.at ?? 0));
    expect(data.map(({ hour }) => hour)).toEqual(order.map(([hour]) => hour));
    for (const row of data) expectFigures(row, groups.get(String(row.hour)) ?? [], String(row.hour));
    const byDay = await report('group_by=day');
    expect(totals).toEqual(byDay.totals);
    for (const row of byDay.data) {
      const hours = data.filter(({ hour }) => String(hour).startsWith(String(row.day)));
      const sum = (name: string) => hours.reduce((total, own) => total + Number(own[name]), 0);
      for (const name of HOURLY) {
        if (!RATIOS.includes(name)) expect(sum(name)).toBeCloseTo(Number(row[name]), 6);
      }
    }
  });

  it.each(['creative', 'campaign'])('by hour and %s', async (group) => {
    const { data } = await report(`group_by=hour,${group}`);
    const nameOf = ({ creative }: Sent) => {
      if (creative === null) return null;
      return group === 'campaign' ? 'Spring' : (['Cat', 'Dog'][creative] ?? null);
    };
    const keyOf = (event: Sent) => JSON.stringify([localHour(zone, event.at), nameOf(event)]);
    const groups = groupsOf(sent, keyOf);
    expect(data.length).toBe(groups.size);
    for (const row of data) {
      const key = JSON.stringify([row.hour, row[group]]);
      expectFigures(row, groups.get(key) ?? [], key);
    }
  });

  it('of one creative, and of organic devices', async () => {
    for (const { query, events } of [
      { query: `creative_id=${creatives[1]}`, events: sent.filter(({ creative }) => creative === 1) },
      { query: 'attribution=organic', events: sent.filter(({ creative }) => creative === null) },
    ]) {
      const { data } = await report(`group_by=hour&${query}`);
      const groups = groupsOf(events, hourOf);
      expect(data.length).toBe(groups.size);
      for (const row of data) expectFigures(row, groups.get(String(row.hour)) ?? [], `${query} ${row.hour}`);
    }
  });

  it.each([1, 2, 9, 23])('until %d o’clock of the last day, by day, creative and hour', async (hour) => {
    const last = changes ?? day(6);
    const isEarlier = (event: Sent) =>
      event.day < last || (event.day === last && Number(localHour(zone, event.at).slice(11, 13)) < hour);
    const events = sent.filter(isEarlier);
    const byDay = await report(`until_hour=${hour}&group_by=day`, last);
    expectFigures(byDay.totals, events, 'the totals');
    const days = groupsOf(events, (event) => event.day);
    expect(byDay.data.length).toBe(days.size);
    for (const row of byDay.data) expectFigures(row, days.get(String(row.day)) ?? [], String(row.day));
    const byCreative = await report(`until_hour=${hour}&group_by=creative`, last);
    for (const row of byCreative.data) {
      const index = row.creative_id === null ? null : creatives.indexOf(String(row.creative_id));
      expectFigures(
        row,
        events.filter(({ creative }) => creative === index),
        String(row.creative),
      );
    }
    const byHour = await report(`until_hour=${hour}&group_by=hour`, last);
    expect(byHour.data.length).toBe(groupsOf(events, hourOf).size);
  });
});
