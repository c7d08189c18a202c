import { compareMeans, compareProportions } from '#lib/statistics/compare';
import type { Sent } from '../history.ts';
import * as naive from '../naive.ts';
import { CREATIVES, isSpendIn, rateInto, STATED } from '../setup.ts';
import {
  type Columns,
  costColumns,
  deviceColumns,
  type Expected,
  groupByColumns,
  ratesOf,
  spentIn,
  unallocatedIn,
  unplacedIn,
} from './expected.ts';
import {
  daysBetween,
  type Filters,
  isOfDevice,
  knowsSpend,
  NAMED,
  type Question,
  SPANS,
  type World,
} from './question.ts';

// The reports of devices, by the day of their acquisition.

export const acquiredIn = (
  world: World,
  { from, to, filters }: Pick<Question, 'from' | 'to' | 'filters'>,
): Sent[] => {
  const isIn = isOfDevice(world, filters);
  return world.sent.filter((event) => event.acquired >= from && event.acquired <= to && isIn(event));
};

/** The first and last day of each cohort within the period. */
function cohortColumns({ from, to, cohort = 'all' }: Question) {
  const spanOf = SPANS[cohort] ?? String;
  const bounds = new Map<string, { cohort_from: string; cohort_to: string }>();
  for (const day of daysBetween(from, to)) {
    const known = bounds.get(spanOf(day));
    bounds.set(spanOf(day), { cohort_from: known?.cohort_from ?? day, cohort_to: day });
  }
  return (day: string): Columns => ({ ...bounds.get(spanOf(day)) });
}

/** A cohort report without a grouping has the columns of one by creative. */
const NO_GROUP = { creative: null, creative_id: null };

const sizeOf = (events: Sent[]) => new Set(events.map(({ device }) => device)).size;
const ofDays = <Value>(days: readonly number[], of: (day: number) => Value) =>
  Object.fromEntries(days.map((day) => [day, of(day)]));

function cohortsOf(world: World, question: Question) {
  const columnsOf = cohortColumns(question);
  const [group] = question.groups;
  return groupByColumns(acquiredIn(world, question), (event) => ({
    ...columnsOf(event.acquired),
    ...(group ? deviceColumns(world, group, event) : NO_GROUP),
  }));
}

export function retention(world: World, question: Question): Expected {
  const { days = [] } = question;
  return {
    rows: [...cohortsOf(world, question).values()].map(({ columns, items }) => ({
      columns,
      figures: {
        size: sizeOf(items),
        days: ofDays(days, (day) => naive.retention(items, day, world.today)),
      },
    })),
    rest: { timezone: world.zone },
  };
}

export function ltv(world: World, question: Question): Expected {
  const { days = [], groups, filters } = question;
  const [group] = groups;
  const rateOn = ratesOf(world);
  const last = Math.max(...days);
  const knows = knowsSpend(filters) && (!group || [...NAMED, ...STATED].some((name) => name === group));
  const spent = knows ? spentIn(world, question) : [];
  const columnsOf = cohortColumns(question);
  const costs = groupByColumns(spent, ({ cost, day }) => {
    const own = group ? costColumns(world, group, cost) : NO_GROUP;
    return own && { ...columnsOf(day), ...own };
  });
  const cohorts = cohortsOf(world, question);
  /** Of the days of a cohort. */
  const unplacedOf = (columns: Columns) =>
    unplacedIn(world, question, columns).filter(({ cost }) =>
      Object.entries(columnsOf(cost.date)).every(([name, value]) => columns[name] === value),
    );
  return {
    rows: [...cohorts].map(([key, { columns, items }]) => {
      const own = knows ? (costs.get(key)?.items ?? []) : null;
      const size = sizeOf(items);
      const isOpen = knows && isSpendIn(unplacedOf(columns));
      const worthBy = (day: number) => {
        const worth = naive.lifetimeValue(items, own, day, world.today, rateOn, days);
        return isOpen ? { ...worth, roas: null } : worth;
      };
      const isPaidBack = (day: number) => {
        const { roas, eligible } = worthBy(day);
        return roas !== null && roas >= 1 && eligible * 2 >= size;
      };
      // Nothing is paid back by a day without spend.
      const until = own && own.length > 0 ? Array.from({ length: last + 1 }, (_, day) => day) : [];
      return {
        columns,
        figures: { size, payback_day: until.find(isPaidBack) ?? null, days: ofDays(days, worthBy) },
      };
    }),
    rest: {
      currency: world.currency,
      timezone: world.zone,
      unallocated_spend: knows ? unallocatedIn(world, question) : undefined,
    },
  };
}

const NAMED_STEPS: Record<string, (event: Sent) => boolean> = {
  install: ({ type }) => type === 'install',
  retention: ({ type }) => type === 'retention',
  ad: naive.isAd,
  purchase: naive.isPaid,
};
const stepOf = (step: string) =>
  NAMED_STEPS[step] ?? (({ payload }: Sent) => payload.event_name === step.slice('event:'.length));

const per = (part: number, whole: number) => (whole === 0 ? null : part / whole);

export function funnel(world: World, question: Question): Expected {
  const { steps = [], groups, window_hours: hours } = question;
  const [group] = groups;
  const windowMs = hours === undefined ? Number.POSITIVE_INFINITY : hours * 3_600_000;
  const found = groupByColumns(acquiredIn(world, question), (event) => deviceColumns(world, group, event));
  const all = !group && found.size === 0 ? [{ columns: {}, items: [] }] : [...found.values()];
  return {
    rows: all.flatMap(({ columns, items }) => {
      const reached = naive.funnel(items, steps.map(stepOf), windowMs);
      return reached.map(({ devices, median_seconds }, at) => ({
        // Several steps may be the same.
        columns: { ...columns, at },
        figures: {
          step: steps[at],
          devices,
          median_seconds,
          from_first: per(devices, reached[0]?.devices ?? 0),
          from_previous: at === 0 ? null : per(devices, reached[at - 1]?.devices ?? 0),
        },
      }));
    }),
    rest: { devices_with_incomplete_history: 0, timezone: world.zone },
  };
}

/** The value of a unit on one day. */
function worthOn(world: World, day: string): naive.WorthOf {
  const rateOn = rateInto(world.published, world.currency);
  return (code) => {
    const rate = rateOn(code, day);
    return rate && Number(rate[0]) / Number(rate[1]);
  };
}

function sampleOf(earned: number[]) {
  const mean = earned.reduce((sum, one) => sum + one, 0) / (earned.length || 1);
  return { size: earned.length, mean, squares: earned.reduce((sum, one) => sum + (one - mean) ** 2, 0) };
}

const idName = (world: World, by: string, id: string) => {
  const named = NAMED.find((name) => name === by);
  return named ? (CREATIVES[world.ids.findIndex((own) => own[named] === id)]?.[named] ?? null) : id;
};

/** The days by which `compare` knows what each device has earned. */
const ARPU_DAYS = [0, 1, 3, 7, 14, 30, 60, 90, 180, 365];
const NO_ARPU = { a: null, b: null, difference: null, low: null, high: null, unconverted: undefined };

export function compare(world: World, question: Question): Expected {
  const { from, to, groups, sides, days = [], filters } = question;
  const [by = ''] = groups;
  const narrowed = (value: string): Filters => ({
    ...(NAMED.some((name) => name === by) ? { [`${by}_id`]: [value] } : { [by]: [value] }),
  });
  const isIn = isOfDevice(world, filters);
  const side = (period: { from: string; to: string }, value?: string) =>
    acquiredIn(world, { ...period, filters: value === undefined ? {} : narrowed(value) }).filter(isIn);
  if (!sides) throw new Error('a comparison has two sides');
  const later = 'b_from' in sides ? { from: sides.b_from, to: sides.b_to } : { from, to };
  const [first, second] =
    'b_from' in sides
      ? [side({ from, to }), side(later)]
      : [side({ from, to }, sides.a), side(later, sides.b)];
  const last = later.to > to ? later.to : to;
  const rate_day = last < world.today ? last : world.today;
  const worthOf = worthOn(world, rate_day);
  const named = (value: string) =>
    by === 'country'
      ? value.toUpperCase()
      : by === 'os' || by === 'network'
        ? value.toLowerCase()
        : idName(world, by, value);
  return {
    rows: days.flatMap((day) => {
      const a = naive.outcomes(first, day, world.today, worthOf);
      const b = naive.outcomes(second, day, world.today, worthOf);
      return Object.entries(naive.comparison(a, b)).map(([metric, figures]) => {
        const proportion = (count: 'active' | 'payers') =>
          compareProportions({ size: a.eligible, count: a[count] }, { size: b.eligible, count: b[count] });
        const found =
          metric === 'arpu'
            ? compareMeans(sampleOf(a.earned), sampleOf(b.earned))
            : proportion(metric === 'retention' ? 'active' : 'payers');
        const tested = { low: found?.low ?? null, high: found?.high ?? null, p_value: found?.pValue ?? null };
        const isKnown = metric !== 'arpu' || ARPU_DAYS.includes(day);
        return {
          columns: { metric, day },
          figures: { ...tested, ...figures, ...(isKnown ? {} : { ...NO_ARPU, p_value: null }) },
        };
      });
    }),
    rest: {
      rate_day,
      currency: world.currency,
      a: { name: 'a' in sides ? named(sides.a) : null, from, to, size: sizeOf(first) },
      b: { name: 'b' in sides ? named(sides.b) : null, ...later, size: sizeOf(second) },
    },
  };
}

/** The gaps have no order but their size, so they are counted under what they say. */
export function clientTotals(world: World, question: Question): Expected {
  const found = (['ad', 'purchase'] as const).map((kind) =>
    naive.clientTotals(acquiredIn(world, question), kind),
  );
  const gaps = groupByColumns(
    found.flatMap((kind) => kind.gaps),
    ({ kind, currency, gap }) => ({ kind, currency, gap: gap.toFixed(6) }),
  );
  return {
    rows: [...gaps.values()].map(({ columns, items }) => ({ columns, figures: { devices: items.length } })),
    rest: {
      totals: ofKinds(found.flatMap((kind) => kind.totals)),
      timezone: world.zone,
    },
  };
}

/** Totals under their kind and currency, in whatever order. */
export const ofKinds = (totals: readonly Record<string, unknown>[]) =>
  Object.fromEntries(totals.map((own) => [`${own.kind} ${own.currency}`, own]));

/** What a prediction begins with. The prediction itself is compared with published ones. */
export function predictedLtv(world: World, question: Question): Expected {
  const to = question.to < world.today ? question.to : world.today;
  const asked = { ...question, to };
  const [group] = question.groups;
  const columnsOf = cohortColumns(asked);
  const worthOf = worthOn(world, world.today);
  const cohorts = groupByColumns(acquiredIn(world, asked), (event) => ({
    ...columnsOf(event.acquired),
    ...deviceColumns(world, group, event),
  }));
  return {
    rows: [...cohorts.values()].map(({ columns, items }) => ({
      columns,
      figures: naive.brought(items, worthOf),
    })),
    rest: { rate_day: world.today, as_of: world.today, currency: world.currency, timezone: world.zone },
  };
}
