import { env } from 'cloudflare:workers';
import { beforeAll, describe, expect, it } from 'vitest';
import { askPurchases, type DeviceFilter, type DeviceGroup } from '#counting';
import type { Tenant } from '../helpers/tenant.ts';
import { isThorough } from '../helpers/thorough.ts';
import { startWorker } from '../helpers/worker.ts';
import { localDay, type Sent } from './history.ts';
import * as naive from './naive.ts';
import {
  askReport,
  CHANGING_RATES,
  CURRENCIES,
  expectFigures,
  monday,
  PERIOD,
  RATES,
  type Row,
  rateInto,
  startOracle,
} from './setup.ts';

// The reports that ask the counters about each device, against the same computed from what was sent.

const DAYS = [0, 1, 3, 7];

const HISTORIES = [
  { zone: 'Australia/Lord_Howe', currency: 'usd', seed: 11, published: CHANGING_RATES, shards: 4 },
  {
    zone: 'America/New_York',
    currency: 'eur',
    seed: 12,
    published: CHANGING_RATES,
    shards: 1,
    doubts: 'exclude',
  },
  // The Swiss franc has no rate.
  { zone: 'Asia/Kolkata', currency: 'jpy', seed: 13, published: RATES, shards: 1 },
] as const;

describe.each(isThorough ? HISTORIES : HISTORIES.slice(0, 1))(
  'every device in $zone, in $currency',
  (options) => {
    const { zone, currency, published, shards } = options;
    const worker = startWorker();
    const { from, to } = PERIOD;
    const today = localDay(zone, Date.now());
    let creatives: string[];
    let tenant: Tenant;
    let sent: Sent[];

    beforeAll(async () => {
      ({ tenant, creatives, sent } = await startOracle(worker, { ...options, foreignRefunds: true }));
    });

    const report = (name: string, query: string) => askReport(worker, tenant, name, query);
    const acquired = (is: (event: Sent) => boolean = () => true) =>
      sent.filter((event) => event.acquired >= from && event.acquired <= to && is(event));
    const worthOn =
      (day: string): naive.WorthOf =>
      (code) => {
        const rate = rateInto(published, currency)(code, day);
        return rate && Number(rate[0]) / Number(rate[1]);
      };

    type Narrowed = {
      name: string;
      query: () => string;
      is: (event: Sent) => boolean;
      filter: () => DeviceFilter;
    };
    const NARROWED: Narrowed[] = [
      { name: 'all devices', query: () => '', is: () => true, filter: () => ({}) },
      {
        name: 'organic devices',
        query: () => 'attribution=organic',
        is: ({ creative }) => creative === null,
        filter: () => ({ attribution: 'organic' }),
      },
      {
        name: 'a creative',
        query: () => `creative_id=${creatives[1]}`,
        is: ({ creative }) => creative === 1,
        filter: () => ({ creativeIds: [creatives[1] ?? ''] }),
      },
      {
        name: 'two countries, one of them unknown',
        query: () => 'country=DE&country=unknown',
        is: ({ country }) => country === 'DE' || country === '',
        filter: () => ({ segment: { country: ['de', ''] } }),
      },
      {
        name: 'an OS and two versions at the acquisition',
        query: () => 'os=android&app_version=1.0&app_version=2.0',
        is: ({ os, firstVersion }) => os === 'android' && ['1.0', '2.0'].includes(firstVersion),
        filter: () => ({ segment: { os: ['android'], app_version: ['1.0', '2.0'] } }),
      },
      {
        name: 'a network and a version of the SDK at the acquisition',
        query: () => 'network=Meta&sdk_version=7.1&sdk_version=7',
        is: ({ network, firstSdk }) => network === 'meta' && ['7', '7.1'].includes(firstSdk),
        filter: () => ({ segment: { network: ['meta'], sdk_version: ['7', '7.1'] } }),
      },
    ];

    type Sides = {
      period?: typeof PERIOD;
      by: string;
      query: () => string;
      a: (event: Sent) => boolean;
      b: (event: Sent) => boolean;
    };
    const SIDES: Sides[] = [
      {
        by: 'country',
        query: () => 'a=DE&b=in',
        a: ({ country }) => country === 'DE',
        b: ({ country }) => country === 'IN',
      },
      {
        by: 'os',
        query: () => 'a=android&b=ios',
        a: ({ os }) => os === 'android',
        b: ({ os }) => os === 'ios',
      },
      {
        by: 'app_version',
        query: () => 'a=1.0&b=2.0',
        a: ({ firstVersion }) => firstVersion === '1.0',
        b: ({ firstVersion }) => firstVersion === '2.0',
      },
      {
        by: 'creative',
        query: () => `a=${creatives[0]}&b=${creatives[2]}`,
        a: ({ creative }) => creative === 0,
        b: ({ creative }) => creative === 2,
      },
      {
        by: 'period',
        period: { from, to: '2026-04-01' },
        query: () => 'b_from=2026-04-02&b_to=2026-04-10',
        a: (event) => event.acquired <= '2026-04-01',
        b: (event) => event.acquired >= '2026-04-02',
      },
    ];
    it.each(
      SIDES.flatMap((sides) =>
        NARROWED.slice(0, 2).map((narrowed) => ({ ...sides, narrowed, of: narrowed.name })),
      ),
    )('compared by $by, of $of', async ({ by, query, a, b, narrowed, period = PERIOD }) => {
      const parts = [`by=${by}`, query(), `days=${DAYS.join(',')}`, narrowed.query()];
      const { data, ...answer } = await askReport(worker, tenant, 'compare', parts.join('&'), period);
      const sides = [a, b].map((is) => acquired((event) => is(event) && narrowed.is(event)));
      const [first = [], second = []] = sides;
      const worthOf = worthOn(String(answer.rate_day));
      for (const day of DAYS) {
        const [one, other] = [first, second].map((events) => naive.outcomes(events, day, today, worthOf));
        if (!one || !other) throw new Error('two sides');
        const expected = naive.comparison(one, other);
        for (const [metric, figures] of Object.entries(expected)) {
          const row = data.find((own) => own.metric === metric && own.day === day);
          expectFigures(row, figures, `${metric} of day ${day}`);
          if (row?.low == null || row.high == null) continue;
          const middle = { middle: (Number(row.low) + Number(row.high)) / 2 };
          expectFigures(middle, { middle: row.difference }, `the interval of ${metric} of day ${day}`);
        }
      }
      const net = await askReport(worker, tenant, 'compare', [...parts, 'net=true'].join('&'), period);
      for (const day of DAYS) {
        const [one, other] = [first, second].map((events) =>
          naive.outcomes(events, day, today, worthOf, sent),
        );
        if (!one || !other) throw new Error('two sides');
        const row = net.data.find((own) => own.metric === 'arpu' && own.day === day);
        expectFigures(row, naive.comparison(one, other).arpu, `net arpu of day ${day}`);
      }
    });

    it.each(NARROWED)('the input of predictions for $name', async ({ query, is, filter }) => {
      const worthOf = worthOn(today);
      const { data } = await report('predicted-ltv', `cohort=week&group_by=country&limit=50&${query()}`);
      const groupOf = (event: Sent) => `${monday(event.acquired)} ${event.country || null}`;
      const groups = Map.groupBy(acquired(is), groupOf);
      expect(data.length).toBe(groups.size);
      for (const row of data) {
        const name = `${monday(String(row.cohort_from))} ${row.country}`;
        expectFigures(row, naive.brought(groups.get(name) ?? [], worthOf), name);
      }
      const net = await report('predicted-ltv', `cohort=week&group_by=country&limit=50&net=true&${query()}`);
      for (const row of net.data) {
        const name = `${monday(String(row.cohort_from))} ${row.country}`;
        expectFigures(row, naive.brought(groups.get(name) ?? [], worthOf, sent), `net ${name}`);
      }

      const ratesOf = (code: string): [string, number][] => {
        const rate = worthOf(code);
        return rate === null ? [] : [[code, rate]];
      };
      // The inputs of the fit: how often, until when, and since when, of each device.
      const asked = async (groupBy: DeviceGroup | null) =>
        askPurchases(
          env,
          { id: tenant.application.id, shards },
          {
            cohort: { from, to },
            filter: filter(),
            groupBy,
            cohortBy: 'all',
            today,
            isPast: false,
            net: null,
            rates: Object.fromEntries(CURRENCIES.flatMap((code) => ratesOf(code))),
          },
        );
      for (const [groupBy, of] of [
        [null, () => ''],
        ['app_version', ({ firstVersion }: Sent) => firstVersion],
        ['sdk_version', ({ firstSdk }: Sent) => firstSdk],
        ['network', ({ network }: Sent) => network],
      ] as const) {
        const found = new Map<string, string[]>();
        for (const { key, histories, waiting } of await asked(groupBy)) {
          const own = found.get(key ?? 'other') ?? [];
          found.set(key ?? 'other', own);
          for (let at = 0; at < histories.length; at += 6) {
            const [x, tx, T, , devices = 0] = histories.subarray(at, at + 5);
            for (let device = 0; device < devices; device++) own.push(JSON.stringify({ x, tx, T }));
          }
          for (let at = 0; at < waiting.length; at += 2) {
            const [T, devices = 0] = waiting.subarray(at, at + 2);
            for (let device = 0; device < devices; device++)
              own.push(JSON.stringify({ x: null, tx: null, T }));
          }
        }
        const expected = Map.groupBy(acquired(is), of);
        expect([...found.keys()].sort()).toEqual([...expected.keys()].sort());
        for (const [key, own] of expected) {
          const histories = naive
            .purchaseHistories(own, today, worthOf)
            .map((history) => JSON.stringify(history));
          expect(found.get(key)?.sort()).toEqual(histories.sort());
        }
      }
    });

    it.each(NARROWED)('the client totals of $name', async ({ query, is }) => {
      const { data, totals } = await report('client-totals', query());
      const expected = (['ad', 'purchase'] as const).map((kind) => naive.clientTotals(acquired(is), kind));
      const rows = totals as unknown as Row[];
      const ofKind = (row: Row) => `${row.kind}/${row.currency}`;
      expect(rows.map(ofKind).sort()).toEqual(
        expected
          .flatMap((own) => own.totals)
          .map(ofKind)
          .sort(),
      );
      for (const own of expected.flatMap((kind) => kind.totals)) {
        expectFigures(
          rows.find((row) => ofKind(row) === ofKind(own)),
          own,
          ofKind(own),
        );
      }
      const gapOf = ({ kind, currency: code, gap }: Row) => `${kind} ${code} ${Number(gap).toFixed(6)}`;
      expect(data.map(gapOf).sort()).toEqual(
        expected
          .flatMap(({ gaps }) => gaps)
          .map(gapOf)
          .sort(),
      );
      const sizes = data.map((row) => Math.abs(Number(row.gap)));
      expect(sizes).toEqual(sizes.toSorted((left, right) => right - left));
    });

    it('has refunds of another currency than their purchase, which the sums know too', async () => {
      const query = 'group_by=month&metrics=refunds,refunded_revenue,net_revenue,profit_net';
      const { totals } = await report('performance', query);
      const rateOn = rateInto(published, currency);
      const { refunds, refunded_revenue, net_revenue } = naive.performance(
        sent.filter(({ day }) => day >= from && day <= to),
        sent,
        [],
        1,
        rateOn,
      );
      expectFigures(totals, { refunds, refunded_revenue, net_revenue }, 'totals');
      // The last history happens to have none.
      if (currency !== 'jpy') expect(naive.foreignRefunds(sent)).toBeGreaterThan(0);
    });

    it('has clients that agree with the counted totals, that disagree, and that use several currencies', () => {
      const { totals, gaps } = naive.clientTotals(acquired(), 'ad');
      const compared = totals.filter((own) => own.currency !== null);
      expect(totals.some((own) => own.currency === null)).toBe(true);
      expect(gaps.length).toBeGreaterThan(0);
      expect(compared.reduce((sum, own) => sum + own.devices, 0)).toBeGreaterThan(gaps.length);
    });
  },
);
