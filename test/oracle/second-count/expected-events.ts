import type { Sent } from '../history.ts';
import * as naive from '../naive.ts';
import {
  allColumns,
  type Columns,
  type CostAmount,
  costColumns,
  type Expected,
  eventColumns,
  groupByColumns,
  isSourced,
  networkOf,
  ratesOf,
  sourceOf,
  spentIn,
  unallocatedIn,
} from './expected.ts';
import {
  daysBetween,
  type Filters,
  isWanted,
  knowsSpend,
  localHour,
  type Question,
  SPANS,
  type World,
} from './question.ts';

// The reports of events: performance and ads.

const SPEND = ['spend', 'cpi', 'roas', 'roas_blended'];
const PAYERS = ['payers', 'arppu'];
const AD = ['impressions', 'ad_revenue', 'ecpm'];
const REQUESTS = ['ad_requests', 'fill_rate'];
const PAID = ['purchases', 'failed_purchases', 'purchase_revenue'];
const BY_HOUR = [
  ...['clicks', 'installs', 'sessions', 'session_seconds', 'average_session_seconds', 'events', 'revenue'],
  ...AD,
  ...REQUESTS,
  ...PAID,
];
const OF_COLUMN: Record<string, readonly string[]> = {
  hour: BY_HOUR,
  source: [...AD, ...REQUESTS],
  media_source: AD,
  placement: [...AD, ...REQUESTS],
  item: PAID,
  event_name: ['events'],
  currency: [...AD, ...PAID, 'revenue', 'spend'],
};

type Figures = Record<string, unknown>;

const VERSIONS = ['app_version', 'sdk_version'] as const;

function lackingOf(groups: readonly string[], filters: Filters, isPartOfDay: boolean) {
  const isByVersion =
    !groups.includes('day') && VERSIONS.some((name) => groups.includes(name) || filters[name] !== undefined);
  const isWithoutCosts = !knowsSpend(filters) || VERSIONS.some((name) => groups.includes(name));
  return (metric: string): boolean =>
    (isWithoutCosts && SPEND.includes(metric)) ||
    (isByVersion && PAYERS.includes(metric)) ||
    (isPartOfDay && !BY_HOUR.includes(metric)) ||
    groups.some((group) => OF_COLUMN[group]?.includes(metric) === false);
}

const MONEY = ['ad_revenue', 'purchase_revenue', 'revenue', 'spend'];

function only(figures: Figures, lacks: (metric: string) => boolean): Figures {
  const result = Object.fromEntries(
    Object.entries(figures).map(([name, value]) => [
      name,
      !name.endsWith('unconverted') && lacks(name) ? null : value,
    ]),
  );
  if (MONEY.every(lacks)) result.unconverted = undefined;
  if (lacks('roas')) result.roas_unconverted = undefined;
  return result;
}

const counts: Record<string, (event: Sent) => boolean> = {
  source: isSourced,
  media_source: naive.isAd,
  placement: isSourced,
  item: (event) => naive.isPaid(event) || naive.isFailed(event),
  event_name: (event) => event.type === 'custom' && !naive.isRequest(event),
  currency: (event) => naive.isAd(event) || naive.isPaid(event) || naive.isFailed(event),
};

export function performance(world: World, question: Question): Expected {
  const { from, to, groups, filters, until_hour: until } = question;
  const rateOn = ratesOf(world);
  const isEarlier = ({ day, at }: Sent) =>
    until === undefined || day < to || Number(localHour(world.zone, at).slice(11, 13)) < until;
  const isIn = isWanted(world, filters);
  const events = world.sent.filter(
    (event) => event.day >= from && event.day <= to && isEarlier(event) && isIn(event),
  );
  const spent = knowsSpend(filters) && until === undefined ? spentIn(world, question) : [];
  const first = world.sent.reduce((least, { day }) => (day < least ? day : least), '9999');
  const days = daysBetween(first > from ? first : from, to < world.today ? to : world.today);
  const lacks = lackingOf(groups, filters, until !== undefined);

  const counted = events.filter((event) => groups.every((group) => counts[group]?.(event) ?? true));
  const rows = groupByColumns<Sent | CostAmount>(counted, (event) =>
    allColumns(groups.map((group) => eventColumns(world, group, event as Sent))),
  );
  const costsOf = lacks('spend')
    ? new Map<string, { columns: Columns; items: CostAmount[] }>()
    : groupByColumns(spent, ({ cost }) => allColumns(groups.map((group) => costColumns(world, group, cost))));
  const keys = new Set([...rows.keys(), ...costsOf.keys()]);
  return {
    rows: [...keys].map((key) => {
      const [own, costs] = [rows.get(key), costsOf.get(key)];
      const columns = own?.columns ?? costs?.columns ?? {};
      const isOfRow = (day: string) =>
        groups.every((group) => !(group in SPANS) || SPANS[group]?.(day) === columns[group]);
      const figures = naive.performance(
        (own?.items ?? []) as Sent[],
        world.sent,
        costs?.items ?? [],
        days.filter(isOfRow).length,
        rateOn,
      );
      return { columns, figures: only(figures, lacks) };
    }),
    rest: {
      totals: only(
        naive.performance(events, world.sent, spent, days.length, rateOn),
        lackingOf([], filters, until !== undefined),
      ),
      unconverted: naive.unconverted([...naive.amountsOf(events), ...spent], rateOn),
      currency: world.currency,
      timezone: world.zone,
      unallocated_spend:
        knowsSpend(filters) && until === undefined ? unallocatedIn(world, question) : undefined,
    },
  };
}

export function ads(world: World, question: Question): Expected {
  const { from, to, groups, filters } = question;
  const rateOn = ratesOf(world);
  const isIn = isWanted(world, filters);
  const events = world.sent.filter(
    (event) => event.day >= from && event.day <= to && isSourced(event) && isIn(event),
  );
  const formatOf = (event: Sent) => ({
    day: event.day,
    source: sourceOf(event),
    ...allColumns(groups.map((group) => eventColumns(world, group, event))),
  });
  const rows: Expected['rows'] = [];
  for (const format of groupByColumns(events, formatOf).values()) {
    const whole = naive.performance(format.items, world.sent, [], 1, rateOn);
    for (const { columns, items } of groupByColumns(format.items, (event) => ({
      ...format.columns,
      media_source: naive.isAd(event) ? networkOf(event) : null,
    })).values()) {
      const own = naive.performance(items, world.sent, [], 1, rateOn);
      const { impressions, ad_revenue, ecpm, unconverted } = own;
      const { ad_requests, fill_rate } = columns.media_source
        ? { ad_requests: null, fill_rate: null }
        : whole;
      rows.push({ columns, figures: { impressions, ad_revenue, ecpm, unconverted, ad_requests, fill_rate } });
    }
  }
  return {
    rows,
    rest: {
      unconverted: naive.unconverted(naive.amountsOf(events.filter(naive.isAd)), rateOn),
      currency: world.currency,
      timezone: world.zone,
    },
  };
}
