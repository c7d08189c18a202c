import { HOURS_KEPT_DAYS } from '#catalogue';
import { sharedReads } from '#db';
import { daysBetween } from '#lib/time';
import { PerformanceQuery, type PerformanceReport, reportPerformance } from '#reports';
import { shortDays } from './axis.ts';
import { count, percent } from './format.ts';
import { type MetricName, nothingOf, showMetric } from './metrics.ts';
import {
  clock,
  isAddedUp,
  isHourly,
  keepsHoursBefore,
  keepsPartBefore,
  knowsHours,
  type PartOfDay,
  partOfDay,
} from './part-of-day.ts';
import { type Compared, comparedDays } from './period.ts';
import { ask, viewAsked } from './report.tsx';
import type { View } from './view.ts';

/** Devices keep earning revenue, so their revenue is compared only once the youngest of them is this many days old. */
const MATURE_DAYS = 30;

/** An increase in these is neither good nor bad. */
const NEUTRAL: ReadonlySet<string> = new Set(['spend']);
/** A decrease in these is good. */
const COSTS: ReadonlySet<string> = new Set(['cpi', 'failed_purchases']);
/** Metrics that grow with the age of the devices acquired in the period. */
const GROWING: ReadonlySet<string> = new Set(['roas', 'roas_blended']);

type Row = PerformanceReport['data'][number];
type Totals = Readonly<Record<string, unknown>>;

export type ComparedReport = {
  report: PerformanceReport;
  days: Compared | null;
  /** The report of the completed part of the period, if it is not the whole period. */
  complete: PerformanceReport | null;
  before: PerformanceReport | null;
  /**
   * The part of today that is compared. If a report has a single metric, `complete` and `before` include it; otherwise its totals are in `parts`,
   * and those two cover whole days.
   */
  part: PartOfDay | null;
  parts: { now: PerformanceReport; before: PerformanceReport } | null;
};

/**
 * The performance report of a view and of the period it is compared with, with the same groupings; an earlier period whose hours are no longer
 * stored is grouped by day instead. `complete` restricts what is read of the completed part. `metric` is the only metric to compare; all totals are compared without it. `report` is the
 * view's own report if it is known already.
 */
export async function readCompared(
  env: Env,
  view: View,
  asked: {
    group_by: string;
    limit?: number;
    q?: string;
    metrics?: readonly MetricName[];
    /** The metrics to read of the earlier period, if fewer are needed there. */
    metricsBefore?: readonly MetricName[];
    totals?: boolean;
  },
  now: number,
  { complete: wanted = 'totals', metric, report: known }: Wanted = {},
): Promise<ComparedReport> {
  const sharing = { ...env, DB: sharedReads(env.DB) };
  const days = comparedDays(view, view.comparison);
  const groups = asked.group_by.split(',');
  const today = days && partOfDay(view, days);
  const part = today && (!metric || (isHourly(metric) && knowsHours(groups, view))) ? today : null;
  const { metrics, metricsBefore = metrics, totals, limit, ...parameters } = asked;
  const query = {
    ...ask(PerformanceQuery, { ...viewAsked(view), ...parameters }),
    ...(limit === undefined ? {} : { limit }),
    ...(metrics ? { metrics } : {}),
    ...(totals === undefined ? {} : { totals }),
  };
  const read = (changes: Partial<PerformanceQuery> & { metrics?: readonly MetricName[] }) =>
    reportPerformance(sharing, view.application, { ...query, ...changes }, now);
  const isByHour = groups.includes('hour');
  const lacksHoursBefore = isByHour && days !== null && !keepsHoursBefore(view, days);
  const readBefore = (changes: Parameters<typeof read>[0]) =>
    read({ ...changes, ...(lacksHoursBefore ? { group_by: withoutHours(query.group_by) } : {}) });
  if (part && metric && days) {
    const until = { until_hour: part.untilHour, metrics: [metric] };
    const [report, complete, before] = await Promise.all([
      known ?? read({}),
      wanted === 'nothing' ? null : read({ to: part.today, ...until }),
      // By hour, the rest of the earlier day is shown as well.
      readBefore({ from: days.before.from, to: part.before, ...(isByHour ? { metrics: [metric] } : until) }),
    ]);
    return { report, days, complete, before, part, parts: null };
  }
  const readPart = (day: string, untilHour: number) =>
    read({ from: day, to: day, until_hour: untilHour, group_by: ['day'] });
  // Only one metric is compared, so only it is read of the other periods.
  const narrow = metric ? { metrics: [metric] } : {};
  const isWhole = !days?.complete || days.complete.to === view.to || wanted === 'nothing';
  const [report, complete, before, partNow, partBefore] = await Promise.all([
    known ?? read({}),
    isWhole || !days?.complete
      ? null
      : read({ ...days.complete, ...narrow, ...(wanted === 'rows' ? {} : { group_by: ['month'] }) }),
    days
      ? readBefore({ ...days.before, ...(metricsBefore ? { metrics: metricsBefore } : {}), ...narrow })
      : null,
    part && readPart(part.today, part.untilHour),
    part && readPart(part.before, part.untilHour),
  ]);
  const parts = partNow && partBefore && { now: partNow, before: partBefore };
  return { report, days, complete, before, part, parts };
}

const withoutHours = (groups: PerformanceQuery['group_by']) => [
  ...new Set(groups.map((name) => (name === 'hour' ? 'day' : name))),
];

type Wanted = { complete?: 'totals' | 'rows' | 'nothing'; metric?: MetricName; report?: PerformanceReport };

/** A metric's total over the compared days, including the part of today if it exists by hour. */
export function comparedTotal(
  compared: ComparedReport,
  name: MetricName,
  of: 'now' | 'before',
): number | null {
  const { report, days, complete, before, parts } = compared;
  const whole = of === 'before' ? before : (complete ?? report);
  const own = figure(whole?.totals, name);
  if (!parts || !isAddedUp(name)) return own;
  const part = figure(parts[of].totals, name);
  if (!days?.complete) return part;
  return own === null || part === null ? null : own + part;
}

const figure = (totals: Totals | undefined, name: string): number | null => {
  const value = totals?.[name];
  return typeof value === 'number' ? value : null;
};

/** The relative change between two values; null if it is undefined. */
export function change(now: number | null, before: number | null): number | null {
  return now === null || before === null || before === 0 ? null : now / before - 1;
}

/** Why a metric of a period cannot be compared yet; null if it can. `hasPart`: its part of today exists. */
export function unreadyReason(
  name: string,
  view: Pick<View, 'to' | 'today'>,
  days: Compared,
  hasPart = false,
): string | null {
  if (!days.complete && !hasPart) return 'today is not over';
  const age = daysBetween(view.to < view.today ? view.to : view.today, view.today);
  return GROWING.has(name) && age < MATURE_DAYS ? 'still growing' : null;
}

export const toneOf = (name: string, by: number): 'up' | 'down' | 'muted' => {
  if (by === 0 || NEUTRAL.has(name)) return 'muted';
  return by > 0 === !COSTS.has(name) ? 'up' : 'down';
};

/** From here on, a change is easier to read as a multiple: 737×, not 73,635%. */
const MULTIPLE = 10;

/** The size of a change, without its direction. */
export const shareText = (by: number): string =>
  by >= MULTIPLE ? `${count(Math.round(by + 1))}×` : percent(Math.abs(by));

/** A change, as an arrow and a percentage. */
export const ChangeShare = ({ name, by }: { name: string; by: number }) => (
  <span class={toneOf(name, by)}>
    {by > 0 ? '▲' : by < 0 ? '▼' : ''} {shareText(by)}
    <span class="visually-hidden">{by > 0 ? ' more' : by < 0 ? ' less' : ' as much'}</span>
  </span>
);

/** The change of a metric and its earlier value, or the earlier value and why there is no change. */
export const Change = ({
  name,
  view,
  compared,
}: {
  name: MetricName;
  view: View;
  compared: ComparedReport;
}) => {
  const { days, before, part } = compared;
  if (!days || !before) return null;
  const until = part && isAddedUp(name) ? ` by ${clock(part.untilHour)}` : '';
  const earlier = comparedTotal(compared, name, 'before');
  if (earlier === null) return null;
  const was = (
    <span class="muted">
      {' '}
      from {showMetric(name, earlier, view.currency)}
      {until}
    </span>
  );
  const reason = unreadyReason(name, view, days, until !== '');
  if (reason) {
    return (
      <span class="muted">
        {showMetric(name, earlier, view.currency)} before; {reason}
      </span>
    );
  }
  const by = change(comparedTotal(compared, name, 'now'), earlier);
  if (by === null) {
    return (
      <span class="muted">
        {showMetric(name, earlier, view.currency)} before{until}
      </span>
    );
  }
  return (
    <span>
      <ChangeShare name={name} by={by} />
      {was}
    </span>
  );
};

/** One sentence that says which periods are compared. `without` names metrics that leave today out although a part of it is compared. */
export const ComparedDays = ({
  view,
  compared: { days, part },
  without = '',
}: {
  view: View;
  compared: Pick<ComparedReport, 'days' | 'part'>;
  without?: string;
}) => {
  if (!days) return null;
  const { today } = view;
  if (part) {
    const until = `until ${clock(part.untilHour)}`;
    const now = shortDays({ from: view.from, to: today }, today);
    const earlier = shortDays({ from: days.before.from, to: part.before }, today);
    const rest = without && days.complete ? `; ${without} without today` : '';
    return <span class="muted">{`${now} ${until} compared with ${earlier} ${until}${rest}`}</span>;
  }
  const before = shortDays(days.before, today);
  const hours = whyNoHours(view, days);
  if (!days.complete) {
    return <span class="muted">{`Today so far; ${before} for comparison${hours}`}</span>;
  }
  const partial = days.complete.to !== view.to && view.to >= today;
  return (
    <span class="muted">
      {partial
        ? `${shortDays(days.complete, today)} compared with ${before}; today is left out until it is over${hours}`
        : `Compared with ${before}`}
    </span>
  );
};

/** Why today's part is not compared with the same part of an earlier day; empty if it could be. */
function whyNoHours(view: View, days: Compared): string {
  if (!knowsHours([], view)) return '; hours are not known by country, OS or app version';
  return keepsPartBefore(view, days) ? '' : `; hours are kept for ${HOURS_KEPT_DAYS} days`;
}

/** The key of a row among the rows of reports with the same groupings. */
export const keyOf = (groups: readonly string[], row: Readonly<Record<string, unknown>>): string =>
  JSON.stringify(groups.map((name) => row[`${name}_id`] ?? row[name] ?? null));

/** The earlier value of a metric for every group, by `keyOf`: null if the group may have been cut off, 0 for a sum without data. */
export function figuresBefore(
  groups: readonly string[],
  { before }: Pick<ComparedReport, 'before'>,
  name: MetricName,
): (row: Row) => number | null {
  const rows = before?.data.filter((row) => !row.is_other) ?? [];
  const known = new Map(rows.map((row) => [keyOf(groups, row), row]));
  const isCut = before === null || before.data.some((row) => row.is_other);
  return (row) => {
    const found = known.get(keyOf(groups, row));
    if (found) return figure(found, name);
    return isCut ? null : nothingOf(name);
  };
}
