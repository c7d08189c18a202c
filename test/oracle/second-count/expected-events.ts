import type { Sent } from '../history.ts';
import * as naive from '../naive.ts';
import { whereKnown } from '../setup.ts';
import {
  allColumns,
  type Columns,
  type CostAmount,
  costColumns,
  deviceColumns,
  type Expected,
  eventColumns,
  groupByColumns,
  isSourced,
  keyOf,
  networkOf,
  ratesOf,
  sourceOf,
  spentIn,
  unallocatedIn,
  unplacedIn,
} from './expected.ts';
import { acquiredIn } from './expected-devices.ts';
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

const SPEND = [
  'spend',
  'profit',
  'profit_net',
  ...['cpi', 'cpc', 'cpm'],
  'roas',
  'roas_blended',
  'roas_net',
  'roas_blended_net',
];
const isOfSpend = (metric: string) => SPEND.includes(metric) || /^roas_(net_)?d/.test(metric);
/** Metrics that have the impressions of costs. */
const isStated = (metric: string) => ['ad_impressions_bought', 'ctr', 'ipm', 'cpm'].includes(metric);
const PAYERS = ['payers', 'arppu', 'arppu_net'];
const AD = ['impressions', 'ad_revenue', 'ecpm'];
const REQUESTS = ['ad_requests', 'fill_rate'];
const PAID = ['purchases', 'failed_purchases', 'purchase_revenue'];
const NET = ['refunds', 'refunded_revenue', 'net_revenue'];
const BY_HOUR = [
  ...[
    'clicks',
    'installs',
    'doubted_installs',
    'net_installs',
    'sessions',
    'session_seconds',
    'average_session_seconds',
    'events',
    'revenue',
  ],
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
  currency: [...AD, ...PAID, ...NET, 'revenue', 'spend', 'profit', 'profit_net'],
};

type Figures = Record<string, unknown>;

const VERSIONS = ['app_version', 'sdk_version'] as const;

function lackingOf(groups: readonly string[], filters: Filters, isPartOfDay: boolean) {
  const isByVersion =
    !groups.includes('day') && VERSIONS.some((name) => groups.includes(name) || filters[name] !== undefined);
  const isWithoutCosts = !knowsSpend(filters) || VERSIONS.some((name) => groups.includes(name));
  return (metric: string): boolean =>
    (isWithoutCosts && (isOfSpend(metric) || isStated(metric))) ||
    (isByVersion && PAYERS.includes(metric)) ||
    (isPartOfDay && !BY_HOUR.includes(metric)) ||
    groups.some((group) => OF_COLUMN[group]?.includes(metric) === false);
}

const MONEY = [
  'ad_revenue',
  'purchase_revenue',
  'revenue',
  'refunded_revenue',
  'net_revenue',
  'spend',
  'profit',
  'profit_net',
  'ecpm',
  'arpdau',
  'arpdau_net',
  'arppu',
  'arppu_net',
  'cpi',
];

const LACKING = ['unconverted', 'roas_unconverted'];

/** With `metrics`, the answer has these only, and nothing of the others. */
function only(
  figures: Figures,
  isLacking: (metric: string) => boolean,
  metrics?: readonly string[],
): Figures {
  const lacks = (metric: string) => isLacking(metric) || metrics?.includes(metric) === false;
  const result = Object.fromEntries(
    Object.entries(figures).map(([name, value]) => [
      name,
      !name.endsWith('unconverted') && lacks(name) ? null : value,
    ]),
  );
  if (MONEY.every(lacks)) result.unconverted = undefined;
  if (lacks('roas') && lacks('roas_blended')) result.roas_unconverted = undefined;
  for (const name of Object.keys(result)) {
    if (metrics && !metrics.includes(name) && !LACKING.includes(name)) result[name] = undefined;
  }
  return result;
}

const counts: Record<string, (event: Sent, all: Sent[]) => boolean> = {
  source: isSourced,
  media_source: naive.isAd,
  placement: isSourced,
  item: (event) => naive.isPaid(event) || naive.isFailed(event),
  event_name: (event) => event.type === 'custom' && !naive.isRequest(event),
  currency: (event, all) =>
    naive.isAd(event) || naive.isPaid(event) || naive.isFailed(event) || naive.isCountedRefund(event, all),
};

/** The figures of the cohorts behind rows, by the columns of the row. */
function cohortsOf(world: World, question: Question, groups: readonly string[]) {
  const { filters, metrics = [], until_hour: until } = question;
  const lacks = lackingOf(groups, filters, until !== undefined);
  const given = metrics.filter((metric) => !lacks(metric));
  const devices = groupByColumns(lacks('installs') ? [] : acquiredIn(world, question), (event) =>
    allColumns(
      groups.map((group) => {
        const spanOf = SPANS[group];
        return spanOf ? { [group]: spanOf(event.acquired) } : deviceColumns(world, group, event);
      }),
    ),
  );
  return (columns: Columns, costs: CostAmount[]): Figures => ({
    ...Object.fromEntries(metrics.filter(lacks).map((metric) => [metric, null])),
    ...naive.cohortMetrics(
      given,
      devices.get(keyOf(columns))?.items ?? [],
      lacks('spend') ? null : costs,
      world.today,
      ratesOf(world),
      world.sent,
    ),
  });
}

export function performance(world: World, question: Question): Expected {
  const { from, to, groups, filters, until_hour: until, metrics } = question;
  const rateOn = ratesOf(world);
  const isEarlier = ({ day, at }: Sent) =>
    until === undefined || day < to || Number(localHour(world.zone, at).slice(11, 13)) < until;
  const isIn = isWanted(world, filters);
  const events = world.sent.filter(
    (event) => event.day >= from && event.day <= to && isEarlier(event) && isIn(event),
  );
  // Costs are not read for metrics that do not need them.
  const wantsSpend = metrics === undefined || metrics.some((metric) => isOfSpend(metric) || isStated(metric));
  const knows = knowsSpend(filters) && until === undefined;
  const spent = knows && wantsSpend ? spentIn(world, question) : [];
  const first = world.sent.reduce((least, { day }) => (day < least ? day : least), '9999');
  const days = daysBetween(first > from ? first : from, to < world.today ? to : world.today);
  const lacks = lackingOf(groups, filters, until !== undefined);

  const counted = events.filter((event) =>
    groups.every((group) => counts[group]?.(event, world.sent) ?? true),
  );
  const rows = groupByColumns<Sent | CostAmount>(counted, (event) =>
    allColumns(groups.map((group) => eventColumns(world, group, event as Sent))),
  );
  const costsOf = lacks('spend')
    ? new Map<string, { columns: Columns; items: CostAmount[] }>()
    : groupByColumns(spent, ({ cost }) => allColumns(groups.map((group) => costColumns(world, group, cost))));
  const keys = new Set([...rows.keys(), ...costsOf.keys()]);
  const cohortOf = cohortsOf(world, question, groups);
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
      const ofCohort = metrics ? cohortOf(columns, costs?.items ?? []) : {};
      const unplaced = lacks('spend') || !knows ? [] : unplacedIn(world, question, columns);
      const known = whereKnown({ ...ofCohort, ...only(figures, lacks, metrics) }, unplaced);
      return { columns, figures: known };
    }),
    rest: {
      totals: whereKnown(
        {
          ...(metrics ? cohortsOf(world, question, [])({}, spent) : {}),
          ...only(
            naive.performance(events, world.sent, spent, days.length, rateOn),
            lackingOf([], filters, until !== undefined),
            metrics,
          ),
        },
        knows ? unplacedIn(world, question) : [],
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
