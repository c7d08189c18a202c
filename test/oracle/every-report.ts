import { env } from 'cloudflare:workers';
import { beforeAll, expect, it } from 'vitest';
import { counterOf } from '#counting';
import { isOfGroup } from '#reports';
import type { Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';
import { CUT_GROUPINGS, expectCut } from './cut-reports.ts';
import { DEVICE_GROUPINGS, DEVICE_METRICS, deviceFigures } from './device-figures.ts';
import { localDay, type Sent } from './history.ts';
import * as naive from './naive.ts';
import {
  askReport,
  COSTS,
  CREATIVES,
  expectFigures,
  type History,
  isSpendIn,
  monday,
  PERIOD,
  RATES,
  type Row,
  rateInto,
  startOracle,
  statedBy,
  whereKnown,
} from './setup.ts';

const isStated = (group: string): group is 'country' | 'os' | 'network' =>
  ['country', 'os', 'network'].includes(group);

/** Sends a history and compares every report of it with the same report computed naively. */
export function describeEveryReport(options: History): void {
  const { zone, currency, published = RATES, shards = 1 } = options;
  const worker = startWorker();
  const { from, to } = PERIOD;
  const rateOn = rateInto(published, currency);
  const costs = COSTS.map(({ date, currency: code, amount, ...cost }) => ({
    ...cost,
    ...statedBy({ ...cost, date, currency: code, amount }),
    day: date,
    currency: code,
    nanos: naive.nanosIn(amount),
  }));
  type Spent = (typeof costs)[number];
  let creatives: string[];
  let tenant: Tenant;
  let sent: Sent[];

  beforeAll(async () => {
    ({ tenant, creatives, sent } = await startOracle(worker, options));
  });

  it('is counted by the counters of its devices', async () => {
    const devices = await Promise.all(
      Array.from({ length: shards }, async (_, shard) => {
        const health = await counterOf(env, tenant.application.id, shard).health();
        return health.devices;
      }),
    );
    // Where each lives is random: in several, if there are several.
    expect(devices.filter((count) => count > 0).length).toBeGreaterThanOrEqual(Math.min(shards, 2));
    expect(devices.reduce((sum, count) => sum + count, 0)).toBe(40);
  });

  const report = (name: string, query: string) => askReport(worker, tenant, name, query);

  const within = (day: string) => day >= from && day <= to;
  /** The days of the period that are not before the application's first event. */
  const daysSinceFirst = () => {
    const [first = ''] = sent.map(({ day }) => day).sort();
    return Array.from({ length: 16 }, (_, index) =>
      new Date(Date.parse(from) + index * 86_400_000).toISOString().slice(0, 10),
    ).filter((day) => day >= first);
  };
  it.each([
    { name: 'day', part: (day: string) => day },
    { name: 'month', part: (day: string) => day.slice(0, 7) },
    { name: 'week', part: monday },
  ])('performance by $name', async ({ name, part }) => {
    const { data, totals, unconverted } = await report('performance', `group_by=${name}`);
    const events = sent.filter((event) => within(event.day));
    const days = daysSinceFirst();
    const spent = costs.filter(({ day }) => within(day));
    const parts = [...new Set([...events, ...spent].map(({ day }) => part(day)))].sort();
    expect(data.length).toBe(parts.length);
    for (const [index, key] of parts.entries()) {
      const expected = naive.performance(
        events.filter(({ day }) => part(day) === key),
        sent,
        spent.filter(({ day }) => part(day) === key),
        days.filter((day) => part(day) === key).length,
        rateOn,
      );
      expectFigures(data[index], expected, key);
    }
    expectFigures(totals, naive.performance(events, sent, spent, days.length, rateOn), 'the totals');
    expect(unconverted).toEqual(naive.unconverted([...naive.amountsOf(events), ...spent], rateOn));
  });

  it.each(DEVICE_GROUPINGS)('distinct devices by %s', async (groups) => {
    const { data, totals } = await report(
      'performance',
      `group_by=${groups}&metrics=${DEVICE_METRICS},installs,spend`,
    );
    const days = daysSinceFirst();
    const world = { sent, costs: costs.filter(({ day }) => within(day)), days, rateOn };
    expect(data.length).toBeGreaterThan(1);
    for (const row of data) {
      const own = JSON.stringify(row);
      if (row.is_unallocated) {
        expectFigures(row, { mau: null, stickiness: null, payer_rate: null, cost_per_payer: null }, own);
        continue;
      }
      const unplaced = world.costs.filter(
        ({ country, day }) =>
          groups.includes('country') && !country && (groups === 'country' || day === row.day),
      );
      const expected = deviceFigures(world, groups, row);
      expectFigures(row, { ...expected, ...(isSpendIn(unplaced) ? { cost_per_payer: null } : {}) }, own);
    }
    expectFigures(totals, deviceFigures(world), 'the totals');
  });

  it.each(CUT_GROUPINGS)('performance by $groups, cut short', async (grouping) => {
    const world = {
      report: (query: string) => report('performance', query),
      events: sent.filter((event) => within(event.day)),
      all: sent,
      days: daysSinceFirst(),
      rateOn,
    };
    for (const limit of [1, 2, 5]) await expectCut(world, grouping, limit);
  });

  const AD = ['impressions', 'ad_revenue', 'ecpm'];
  const PAID = ['purchases', 'failed_purchases', 'purchase_revenue'];
  const REQUESTS = ['ad_requests', 'fill_rate'];
  const params = (event: Sent) => (event.payload.params ?? {}) as Record<string, string>;
  const asked = (event: Sent) => event.payload.event_name === 'ad_request';
  it.each([
    {
      groups: 'source,day',
      gives: [...AD, ...REQUESTS],
      counts: (event: Sent) => naive.isAd(event) || asked(event),
      key: (event: Sent) => [asked(event) ? params(event).key : event.payload.source, event.day],
    },
    {
      groups: 'media_source',
      gives: AD,
      counts: naive.isAd,
      key: (event: Sent) => [event.payload.media_source ?? null],
    },
    {
      groups: 'placement',
      gives: [...AD, ...REQUESTS],
      counts: (event: Sent) => naive.isAd(event) || asked(event),
      key: (event: Sent) => [asked(event) ? params(event).id : event.payload.ad_id],
    },
    {
      groups: 'item,month',
      gives: PAID,
      counts: (event: Sent) => naive.isPaid(event) || naive.isFailed(event),
      key: (event: Sent) => [event.payload.item_id, event.day.slice(0, 7)],
    },
    {
      groups: 'event_name',
      gives: ['events'],
      counts: (event: Sent) => event.type === 'custom' && !naive.isRequest(event),
      key: (event: Sent) => [event.payload.event_name],
    },
    {
      groups: 'currency',
      gives: [
        ...[...AD, ...PAID, 'revenue', 'spend', 'profit'],
        ...['refunds', 'refunded_revenue', 'net_revenue', 'profit_net'],
      ],
      counts: (event: Sent) =>
        naive.isAd(event) ||
        naive.isPaid(event) ||
        naive.isFailed(event) ||
        naive.isCountedRefund(event, sent),
      key: (event: Sent) => [event.payload.currency],
    },
    {
      groups: 'item,currency',
      gives: PAID,
      counts: (event: Sent) => naive.isPaid(event) || naive.isFailed(event),
      key: (event: Sent) => [event.payload.item_id, event.payload.currency],
    },
  ])('performance by $groups', async ({ groups, gives, counts, key }) => {
    const { data } = await report('performance', `group_by=${groups}`);
    const events = sent.filter((event) => within(event.day) && counts(event));
    // A currency in which only money was spent has a row too.
    const spentIn = groups === 'currency' ? costs.map((cost) => JSON.stringify([cost.currency])) : [];
    const keys = [...new Set([...events.map((event) => JSON.stringify(key(event))), ...spentIn])];
    expect(data.length).toBe(keys.length);
    for (const name of keys) {
      const row = data.find(
        (found) => JSON.stringify(groups.split(',').map((column) => found[column])) === name,
      );
      const spent =
        groups === 'currency' ? costs.filter((cost) => JSON.stringify([cost.currency]) === name) : [];
      const all = naive.performance(
        events.filter((event) => JSON.stringify(key(event)) === name),
        sent,
        spent,
        daysSinceFirst().length,
        rateOn,
      );
      const expected = Object.entries(all).map(([metric, value]) => [
        metric,
        gives.includes(metric) || metric === 'unconverted'
          ? value
          : metric.endsWith('_unconverted')
            ? undefined
            : null,
      ]);
      expectFigures(row, Object.fromEntries(expected), name);
    }
  });

  it.each([
    { cohort: 'day', part: (day: string) => day },
    { cohort: 'week', part: monday },
    { cohort: 'month', part: (day: string) => day.slice(0, 7) },
    { cohort: 'all', part: () => '' },
  ])('retention and lifetime value of each $cohort', async ({ cohort, part }) => {
    const retention = await report('retention', `cohort=${cohort}&days=0,1,3,7`);
    const ltv = await report('ltv', `cohort=${cohort}&days=0,1,3,7`);
    const today = localDay(zone, Date.now());
    const acquired = sent.filter((event) => within(event.acquired));
    const parts = [...new Set(acquired.map((event) => part(event.acquired)))].sort();
    expect(retention.data.map((row) => part(String(row.cohort_from)))).toEqual(parts);
    expect(ltv.data.length).toBe(parts.length);
    for (const [index, key] of parts.entries()) {
      const devices = acquired.filter((event) => part(event.acquired) === key);
      const spent = costs.filter(({ day }) => within(day) && part(day) === key);
      const size = new Set(devices.map((event) => event.device)).size;
      for (const row of [retention.data[index], ltv.data[index]]) expect(row?.size).toBe(size);
      for (const day of [0, 1, 3, 7]) {
        const found = (retention.data[index]?.days ?? {}) as unknown as Record<string, Row>;
        expectFigures(found[day], naive.retention(devices, day, today), `day ${day} of ${key}`);
        const value = (ltv.data[index]?.days ?? {}) as unknown as Record<string, Row>;
        expectFigures(
          value[day],
          naive.lifetimeValue(devices, spent, day, today, rateOn),
          `day ${day} of ${key}`,
        );
      }
    }
    const earned = acquired.filter(
      (event) => (Date.parse(event.day) - Date.parse(event.acquired)) / 86_400_000 <= 7,
    );
    expect(ltv.unconverted).toEqual(
      naive.unconverted([...naive.amountsOf(earned), ...costs.filter(({ day }) => within(day))], rateOn),
    );
  });

  type Group = 'campaign' | 'adset' | 'creative';
  const NAMES = {
    campaign: ['campaign'],
    adset: ['campaign', 'adset'],
    creative: ['campaign', 'adset', 'creative'],
  } as const;
  /** By all its names, because an ad set is one only within its campaign; null for an organic device. */
  const nameOf = (group: Group, index: number | null) =>
    index === null ? null : NAMES[group].map((name) => CREATIVES[index]?.[name]).join('/');
  /** Null for a cost that is of no one group. */
  const costName = (group: Group, cost: Partial<Record<Group, string>>) =>
    NAMES[group].every((name) => cost[name]) ? NAMES[group].map((name) => cost[name]).join('/') : null;

  it.each(['campaign', 'adset', 'creative'] as const)(
    'performance, retention and lifetime value by %s',
    async (group) => {
      const last = (name: string | null) => name?.split('/').at(-1) ?? null;
      const events = sent.filter((event) => within(event.day));
      const acquired = sent.filter((event) => within(event.acquired));
      const spent = costs.filter(({ day }) => within(day));
      const performance = await report('performance', `group_by=${group}`);
      const retention = await report('retention', `group_by=${group}&days=1`);
      const ltv = await report('ltv', `group_by=${group}&days=3`);
      const names = new Set(sent.map((event) => nameOf(group, event.creative)));
      const unknown = new Set(
        spent.map((cost) => costName(group, cost)).filter((name) => name !== null && !names.has(name)),
      );
      // A creative of the campaign alone is found where the application has one of that name.
      expect(performance.data.filter(isOfGroup).length).toBe(
        names.size + unknown.size + (group === 'creative' ? 1 : 0),
      );
      expect(retention.data.length).toBe(names.size);
      const today = localDay(zone, Date.now());
      const ids = new Map<string, unknown>();
      for (const name of names) {
        const mine = (event: Sent) => nameOf(group, event.creative) === name;
        const costsOf = name === null ? [] : spent.filter((cost) => costName(group, cost) === name);
        const expected = naive.performance(
          events.filter(mine),
          sent,
          costsOf,
          daysSinceFirst().length,
          rateOn,
        );
        // Groups with the same name are distinguished by their figures. Each has an id of its own.
        const row = performance.data.find(
          (found) =>
            found[group] === last(name) &&
            found.impressions === expected.impressions &&
            found.installs === expected.installs &&
            found.events === expected.events &&
            found.sessions === expected.sessions,
        );
        const place = name === null ? null : CREATIVES.find((_, at) => nameOf(group, at) === name);
        const unstated = spent.filter(
          (cost) =>
            group !== 'campaign' &&
            !cost[group] &&
            cost.campaign === place?.campaign &&
            (!cost.adset || cost.adset === place.adset),
        );
        expectFigures(row, whereKnown(expected, unstated), String(name));
        const id = row?.[`${group}_id`];
        expect([...ids.values()]).not.toContain(id);
        ids.set(String(name), id);
        const days = retention.data.find((found) => found[`${group}_id`] === id)?.days as unknown as Record<
          string,
          Row
        >;
        expectFigures(days[1], naive.retention(acquired.filter(mine), 1, today), String(name));
        const values = ltv.data.find((found) => found[`${group}_id`] === id)?.days as unknown as Record<
          string,
          Row
        >;
        expectFigures(
          values[3],
          {
            ...naive.lifetimeValue(acquired.filter(mine), costsOf, 3, today, rateOn),
            ...(isSpendIn(unstated) ? { roas: null } : {}),
          },
          String(name),
        );
      }
      for (const name of unknown) {
        const row = performance.data.find(
          (found) => found[group] === last(name) && found[`${group}_id`] === null,
        );
        expectFigures(
          row,
          {
            installs: 0,
            spend: naive.money(
              spent.filter((cost) => costName(group, cost) === name),
              rateOn,
            ),
          },
          String(name),
        );
      }
    },
  );

  /** What needs costs. */
  const SPEND = [
    ...['ad_impressions_bought', 'ctr', 'ipm', 'cpc', 'cpm'],
    'spend',
    'profit',
    'profit_net',
    'cpi',
    'roas',
    'roas_blended',
    'roas_net',
    'roas_blended_net',
  ];
  const PAYERS = ['payers', 'arppu', 'arppu_net'];
  const without = (figures: Record<string, unknown>, lacking: readonly string[]) => ({
    ...figures,
    ...Object.fromEntries(lacking.map((name) => [name, null])),
    // What is said of ROAS goes with it.
    ...(lacking.includes('roas') ? { roas_unconverted: undefined } : {}),
  });

  /** Costs do not state versions. */
  type Dimension = { column: string; of: (event: Sent) => string; ofCost?: (cost: Spent) => string };
  const stated = (column: 'country' | 'os' | 'network') => ({
    column,
    of: (event: Sent) => event[column],
    ofCost: (cost: Spent) => cost[column],
  });
  const [COUNTRY, OS, NETWORK] = [stated('country'), stated('os'), stated('network')];
  const VERSION = { column: 'app_version', of: ({ version }: Sent) => version };
  const SDK = { column: 'sdk_version', of: ({ sdk }: Sent) => sdk };
  const firstValue = (own: Sent, group: 'country' | 'os' | 'network' | 'app_version' | 'sdk_version') =>
    group === 'app_version' ? own.firstVersion : group === 'sdk_version' ? own.firstSdk : own[group];
  const monthOf = ({ day }: { day: string }) => day.slice(0, 7);
  const MONTH = { column: 'month', of: monthOf, ofCost: monthOf };
  const DAY = { column: 'day', of: ({ day }: Sent) => day };
  const BY_SEGMENT: { by: Dimension[]; lacks?: readonly string[] }[] = [
    { by: [COUNTRY] },
    { by: [OS] },
    { by: [VERSION], lacks: PAYERS },
    { by: [COUNTRY, OS] },
    { by: [MONTH, COUNTRY] },
    { by: [DAY, VERSION] },
    { by: [VERSION, OS], lacks: PAYERS },
    { by: [NETWORK] },
    { by: [OS, NETWORK] },
    { by: [MONTH, NETWORK] },
    { by: [SDK], lacks: PAYERS },
    { by: [DAY, SDK] },
    { by: [SDK, NETWORK], lacks: PAYERS },
  ];
  it.each(BY_SEGMENT.map((one) => ({ ...one, groups: one.by.map(({ column }) => column).join(',') })))(
    'performance by $groups, each with its own payers',
    async ({ by, groups, lacks = [] }) => {
      const { data, totals } = await report('performance', `group_by=${groups}`);
      const events = sent.filter((event) => within(event.day));
      const keyOf = (event: Sent) => JSON.stringify(by.map(({ of }) => of(event) || null));
      const spent = costs.filter(({ day }) => within(day));
      const isCosted = by.every(({ ofCost }) => ofCost);
      const keyOfCost = (cost: Spent) =>
        isCosted && by.every(({ ofCost }) => ofCost?.(cost))
          ? JSON.stringify(by.map(({ ofCost }) => ofCost?.(cost)))
          : null;
      const mayBeOf = (event: Sent) => (cost: Spent) =>
        isCosted &&
        keyOfCost(cost) === null &&
        by.every(({ of, ofCost }) => !ofCost?.(cost) || ofCost(cost) === of(event));
      const costed = spent.map(keyOfCost).filter((key) => key !== null);
      const keys = [...new Set([...events.map(keyOf), ...costed])];
      const shown = new Map(
        data.filter(isOfGroup).map((row) => [JSON.stringify(by.map(({ column }) => row[column])), row]),
      );
      expect(keys).toEqual(expect.arrayContaining([...shown.keys()]));
      for (const key of keys) {
        const row = shown.get(key);
        const own = events.filter((event) => keyOf(event) === key);
        const days = daysSinceFirst().filter((day) =>
          by.every(({ column, of }) =>
            column === 'day' || column === 'month' ? of({ day } as Sent) === row?.[column] : true,
          ),
        );
        const costsOf = spent.filter((cost) => keyOfCost(cost) === key);
        const figures = naive.performance(own, sent, costsOf, days.length, rateOn);
        // There is no row without figures: of a launch that another event has told, for instance.
        if (!row) expect(Object.values(figures).filter(Boolean), key).toEqual([]);
        else {
          const [first] = own;
          const named = Object.fromEntries(
            by.map(({ column }) => [column, row[column] ?? '']),
          ) as unknown as Sent & {
            month?: string;
          };
          const like = first ?? { ...named, day: `${named.month ?? named.day}` };
          const known = whereKnown(figures, spent.filter(mayBeOf(like)));
          expectFigures(row, without(known, [...(isCosted ? [] : SPEND), ...lacks]), key);
        }
      }
      const whole = naive.performance(events, sent, spent, daysSinceFirst().length, rateOn);
      expectFigures(totals, whole, 'the totals');
    },
  );

  type Filter = {
    name: string;
    query: () => Promise<string>;
    event: (event: Sent) => boolean;
    /** For cohorts: decides by the properties of the device at its acquisition. */
    device?: (event: Sent) => boolean;
    /** Costs that may be of it, and do not say so. */
    unsure?: (cost: Spent) => boolean;
    /** Null if costs cannot be filtered by it. */
    cost: ((cost: Spent) => boolean) | null;
    lacks?: readonly string[];
  };
  /** The id of what the first creative is in. */
  const idOf = async (group: Group) => {
    const { data } = await report('performance', `group_by=${group}`);
    const named = data.filter((row) => row[group] === CREATIVES[0]?.[group] && row[`${group}_id`] !== null);
    for (const row of named) {
      const { data: creatives } = await report(
        'performance',
        `${group}_id=${row[`${group}_id`]}&group_by=adset`,
      );
      const { data: campaigns } = await report(
        'performance',
        `${group}_id=${row[`${group}_id`]}&group_by=campaign`,
      );
      const isFirst =
        creatives.some(({ adset }) => adset === 'Young') &&
        campaigns.some(({ campaign }) => campaign === 'Spring');
      if (isFirst) return String(row[`${group}_id`]);
    }
    throw new Error(`no ${group}`);
  };
  const ofFirst = (group: Group): Filter => ({
    name: group,
    query: async () => `${group}_id=${await idOf(group)}`,
    event: ({ creative }) => creative !== null && nameOf(group, creative) === nameOf(group, 0),
    cost: (cost) => costName(group, cost) === nameOf(group, 0),
    unsure: (cost) =>
      group !== 'campaign' &&
      !cost[group] &&
      cost.campaign === CREATIVES[0]?.campaign &&
      (!cost.adset || cost.adset === CREATIVES[0]?.adset),
  });
  const FILTERS: Filter[] = [
    ofFirst('campaign'),
    ofFirst('adset'),
    ofFirst('creative'),
    {
      name: 'paid',
      query: async () => 'attribution=paid',
      event: ({ creative }) => creative !== null,
      cost: () => true,
    },
    {
      name: 'organic',
      query: async () => 'attribution=organic',
      event: ({ creative }) => creative === null,
      cost: () => false,
    },
    {
      name: 'two countries',
      query: async () => 'country=DE&country=unknown',
      event: ({ country }) => country === 'DE' || country === '',
      cost: ({ country }) => country === 'DE' || country === '',
    },
    {
      name: 'one OS of the paid devices',
      query: async () => 'os=android&attribution=paid',
      event: ({ os, creative }) => os === 'android' && creative !== null,
      cost: ({ os }) => os === 'android',
      unsure: ({ os }) => os === '',
    },
    {
      name: 'one version',
      query: async () => 'app_version=1.1',
      event: ({ version }) => version === '1.1',
      device: ({ firstVersion }) => firstVersion === '1.1',
      cost: null,
      lacks: PAYERS,
    },
    {
      name: 'one version of the SDK',
      query: async () => 'sdk_version=7',
      event: ({ sdk }) => sdk === '7',
      device: ({ firstSdk }) => firstSdk === '7',
      cost: null,
      lacks: PAYERS,
    },
    {
      name: 'a network, or none',
      query: async () => 'network=facebook&network=unknown',
      event: ({ network }) => network === 'meta' || network === '',
      cost: ({ network }) => network === 'meta' || network === '',
    },
  ];
  it.each(FILTERS)(
    'every report of $name alone',
    async ({ query, event, device = event, cost, unsure, lacks = [] }) => {
      const filter = await query();
      const events = sent.filter((own) => within(own.day) && event(own));
      const spent = costs.filter((own) => within(own.day) && cost?.(own));
      const lacking = [...(cost ? [] : SPEND), ...lacks];
      const maybe = unsure ? costs.filter((own) => within(own.day) && unsure(own)) : [];
      /** Costs that may be of a group's value, among those that match the filter or may. */
      const maybeOf = (group: string, value: string | null) => [
        ...maybe.filter(
          (own) => group === 'month' || !isStated(group) || !own[group] || own[group] === value,
        ),
        ...spent.filter((own) => isStated(group) && own[group] === ''),
      ];

      for (const group of ['month', 'country']) {
        const { data, totals } = await report('performance', `group_by=${group}&${filter}`);
        const days = daysSinceFirst();
        const whole = naive.performance(events, sent, spent, days.length, rateOn);
        expectFigures(totals, without(whereKnown(whole, maybe), lacking), 'the totals');
        const keyOf = (own: { day: string; country?: string }) =>
          group === 'month' ? own.day.slice(0, 7) : own.country || null;
        const placed = spent.filter((own) => group === 'month' || own.country !== '');
        const keys = [...new Set([...events, ...placed].map(keyOf))];
        expect(data.filter(isOfGroup).length).toBe(keys.length);
        for (const key of keys) {
          const figures = naive.performance(
            events.filter((own) => keyOf(own) === key),
            sent,
            placed.filter((own) => keyOf(own) === key),
            group === 'month' ? days.filter((day) => day.slice(0, 7) === key).length : days.length,
            rateOn,
          );
          const row = data.find((found) => found[group] === key);
          const mine = maybeOf(group, key).filter((own) => group !== 'month' || keyOf(own) === key);
          expectFigures(row, without(whereKnown(figures, mine), lacking), String(key));
        }
      }

      const { data: ads } = await report('ads', filter);
      const shown = events.filter(naive.isAd);
      expect(ads.reduce((sum, row) => sum + Number(row.impressions), 0)).toBe(shown.length);
      expect(ads.reduce((sum, row) => sum + Number(row.ad_requests), 0)).toBe(
        naive.performance(events, sent, [], 1, rateOn).ad_requests,
      );

      const today = localDay(zone, Date.now());
      const acquired = sent.filter((own) => within(own.acquired) && device(own));
      for (const group of ['country', 'os', 'network', 'app_version', 'sdk_version'] as const) {
        const retention = await report('retention', `group_by=${group}&days=1,3&${filter}`);
        const ltv = await report('ltv', `group_by=${group}&days=3&${filter}`);
        const groupOf = (own: Sent) => firstValue(own, group) || null;
        const values = new Set(acquired.map(groupOf));
        expect(retention.data.length).toBe(values.size);
        for (const value of values) {
          const own = acquired.filter((one) => groupOf(one) === value);
          const daysOf = (rows: Row[]) =>
            rows.find((row) => row[group] === value)?.days as unknown as Record<string, Row>;
          expectFigures(daysOf(retention.data)[3], naive.retention(own, 3, today), `${value}`);
          const isCosted = cost && group !== 'app_version' && group !== 'sdk_version';
          const costsOf = isCosted ? spent.filter((one) => one[group] !== '' && one[group] === value) : null;
          const earned = naive.lifetimeValue(own, costsOf, 3, today, rateOn);
          const isOpen = isSpendIn(maybeOf(group, value));
          expectFigures(daysOf(ltv.data)[3], { ...earned, ...(isOpen ? { roas: null } : {}) }, `${value}`);
        }
      }
      const ltv = await report('ltv', `days=7&${filter}`);
      const value = (ltv.data[0]?.days ?? {}) as unknown as Record<string, Row>;
      const earned = naive.lifetimeValue(acquired, cost ? spent : null, 7, today, rateOn);
      expectFigures(value[7], { ...earned, ...(isSpendIn(maybe) ? { roas: null } : {}) }, 'all');

      const { data: funnel } = await report('funnel', `steps=install,ad&window_hours=10000&${filter}`);
      const isInstall = (own: Sent) => own.type === 'install';
      expect(funnel.map(({ devices, median_seconds }) => ({ devices, median_seconds }))).toEqual(
        naive.funnel(acquired, [isInstall, naive.isAd], 10_000 * 3_600_000),
      );
    },
  );

  it('the funnel of repeated steps', async () => {
    const { data } = await report('funnel', 'steps=install,ad,purchase,ad,ad,purchase');
    const isInstall = (event: Sent) => event.type === 'install';
    const [ad, paid] = [naive.isAd, naive.isPaid];
    const acquired = sent.filter((event) => within(event.acquired));
    const steps = [isInstall, ad, paid, ad, ad, paid];
    expect(data.map(({ devices, median_seconds }) => ({ devices, median_seconds }))).toEqual(
      naive.funnel(acquired, steps, Number.POSITIVE_INFINITY),
    );
    expect(Number(data.at(-1)?.devices)).toBeGreaterThan(0);
  });

  it.each([0.5, 30, 10_000])('the funnel within %d hours', async (hours) => {
    const { data, devices_with_incomplete_history } = await report(
      'funnel',
      `steps=install,event:tutorial,event:level_up,ad,retention,purchase&window_hours=${hours}`,
    );
    const named = (name: string) => (event: Sent) => event.payload.event_name === name;
    const steps = [
      (event: Sent) => event.type === 'install',
      named('tutorial'),
      named('level_up'),
      naive.isAd,
      (event: Sent) => event.type === 'retention',
      naive.isPaid,
    ];
    const reached = naive.funnel(
      sent.filter((event) => within(event.acquired)),
      steps,
      hours * 3_600_000,
    );
    expect(data.map(({ devices, median_seconds }) => ({ devices, median_seconds }))).toEqual(reached);
    expect(devices_with_incomplete_history).toBe(0);
  });

  const creativeId = ({ creative }: Sent) => (creative === null ? null : creatives[creative]);
  it.each([
    { group: 'creative', column: 'creative_id', of: creativeId },
    { group: 'country', column: 'country', of: ({ country }: Sent) => country || null },
    { group: 'os', column: 'os', of: ({ os }: Sent) => os },
    { group: 'network', column: 'network', of: ({ network }: Sent) => network || null },
    { group: 'app_version', column: 'app_version', of: ({ firstVersion }: Sent) => firstVersion },
    { group: 'sdk_version', column: 'sdk_version', of: ({ firstSdk }: Sent) => firstSdk },
  ])('the funnel of each $group', async ({ group, column, of }) => {
    const { data } = await report('funnel', `steps=install,ad,purchase&group_by=${group}`);
    const steps = [(event: Sent) => event.type === 'install', naive.isAd, naive.isPaid];
    const groups = Map.groupBy(data, (row) => row[column]);
    const acquired = sent.filter((event) => within(event.acquired));
    expect(new Set(groups.keys())).toEqual(new Set(acquired.map(of)));
    for (const [value, rows] of groups) {
      const own = acquired.filter((event) => of(event) === value);
      const reached = naive.funnel(own, steps, Number.POSITIVE_INFINITY);
      expect(rows.map(({ devices, median_seconds }) => ({ devices, median_seconds }))).toEqual(reached);
    }
  });

  const campaignOf = ({ creative }: Sent) => (creative === null ? null : CREATIVES[creative]?.campaign);
  it.each([
    { group: 'nothing else', query: '', column: null, of: () => null },
    { group: 'creative', query: 'group_by=creative', column: 'creative_id', of: creativeId },
    { group: 'campaign', query: 'group_by=campaign', column: 'campaign', of: campaignOf },
    ...[COUNTRY, OS, NETWORK, VERSION, SDK].map(({ column, of }) => {
      const ofKnown = (event: Sent) => of(event) || null;
      return { group: column, query: `group_by=${column}`, column, of: ofKnown };
    }),
  ])('the ads of each day, format, network and $group', async ({ query, column, of }) => {
    const { data } = await report('ads', query);
    for (const row of data) {
      const ofFormat = sent.filter(
        (event) =>
          event.day === row.day &&
          (event.payload.source ?? params(event).key) === row.source &&
          (column === null || of(event) === row[column]),
      );
      const shown = ofFormat.filter(
        (event) => naive.isAd(event) && (event.payload.media_source ?? null) === row.media_source,
      );
      const { impressions, ad_revenue, ecpm, unconverted } = naive.performance(shown, sent, [], 1, rateOn);
      const { ad_requests, fill_rate } = naive.performance(ofFormat, sent, [], 1, rateOn);
      const requests =
        row.media_source === null ? { ad_requests, fill_rate } : { ad_requests: null, fill_rate: null };
      expectFigures(row, { impressions, ad_revenue, ecpm, unconverted, ...requests }, JSON.stringify(row));
    }
    const requests = data.reduce((sum, row) => sum + Number(row.ad_requests), 0);
    expect(requests).toBe(
      naive.performance(
        sent.filter((event) => within(event.day)),
        sent,
        [],
        1,
        rateOn,
      ).ad_requests,
    );
    const impressions = data.reduce((sum, row) => sum + Number(row.impressions), 0);
    expect(impressions).toBe(sent.filter((event) => naive.isAd(event) && within(event.day)).length);
  });
}
