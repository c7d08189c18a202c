import { type Change, changeOf, HOURS_KEPT_DAYS, OF_ACQUIRED } from '#catalogue';
import { sharedReads } from '#db';
import { readAs } from '#http';
import { count, percent } from '#lib/format';
import { addDays, daysBetween } from '#lib/time';
import {
  isOfGroup,
  PerformanceQuery,
  type PerformanceReport,
  type PerformanceRow,
  reportPerformance,
} from '#reports';
import { dateText, shortDays } from '../shell/dates.ts';
import { type Compared, comparedDays } from '../shell/period.ts';
import { viewAsked } from '../shell/report.tsx';
import type { View } from '../shell/view.ts';
import { isTimeGroup } from './groups.tsx';
import { type Earlier, earlierOf, Mark } from './lacking.tsx';
import { METRIC_DEFINITIONS, type MetricName, nothingOf, numberOf, showMetric } from './metrics.ts';
import {
  clock,
  comparedPeriods,
  isHourly,
  keepsHoursBefore,
  knowsHours,
  type Periods,
} from './part-of-day.ts';
import { type AxisPlace, type AxisUnit, placesIn } from './places.ts';

/** Devices keep earning revenue, so their revenue is compared only once the youngest of them is this many days old. */
const MATURE_DAYS = 30;

export type ComparedReport = {
  /** Which periods are compared; null if none are. */
  periods: Periods | null;
  /** The rows and totals to show, of the whole view. */
  report: PerformanceReport;
  /** What is compared: `report` itself, or without the part of the view that is not over. */
  shown: PerformanceReport;
  /** The earlier period; its totals cover what is compared. */
  before: PerformanceReport | null;
  /** The rows before those of `report`: by hour, all hours of the earlier days; otherwise those of `before`. */
  earlier: PerformanceReport | null;
};

/**
 * The performance report of a view and of the period it is compared with, with the same groupings. `compares` are the metrics that must exist by
 * hour for hours of today to be compared. `metric` is the only metric to read of the earlier period, if one is enough. `report` is the report
 * of what is shown, if it is known already. With `onlyTotals`, the reports that are read have no groups, which takes far fewer rows of the cube.
 */
export async function readCompared(
  env: Env,
  view: View,
  asked: {
    group_by: string;
    limit?: number;
    q?: string;
    metrics?: readonly MetricName[];
    totals?: boolean;
  },
  { compares = [], metric, report: known, onlyTotals = false }: ComparedOptions = {},
): Promise<ComparedReport> {
  const sharing = { ...env, DB: sharedReads(env.DB) };
  const groups = asked.group_by.split(',');
  const isByTime = groups.some(isTimeGroup);
  const isByHour = groups.includes('hour');
  const others = groups.filter((name) => !isTimeGroup(name));
  const found = comparedPeriods(view, others, compares);
  // Without totals to compare, rows of whole days have no hours.
  const hasNoHours = metric !== undefined && isByTime && !isByHour;
  const periods = hasNoHours && found?.untilHour ? null : found;
  const { group_by, q, ...wanted } = asked;
  const query = {
    ...readAs(PerformanceQuery, { ...viewAsked(view), group_by, q }),
    ...wanted,
    ...(onlyTotals ? { group_by: [] } : {}),
  };
  const read = (changes: Partial<PerformanceQuery> & { metrics?: readonly MetricName[] }) =>
    reportPerformance(sharing, view.application, { ...query, ...changes }, view.now);
  if (!periods) {
    const report = await (known ?? read({}));
    return { periods, report, shown: report, before: null, earlier: null };
  }
  const narrow = metric ? { metrics: [metric] } : {};
  const until = periods.untilHour === null ? {} : { until_hour: periods.untilHour };
  // The days that are shown are the same whether they are compared or not; today is among them only if it was asked for.
  const isWhole = periods.now.to === view.to && periods.untilHour === null;
  if (!isByTime) {
    const [report, shown, before] = await Promise.all([
      known ?? read({}),
      isWhole ? null : read({ ...periods.now, ...until }),
      read({ ...periods.before, ...until, ...narrow }),
    ]);
    return { periods, report, shown: shown ?? report, before, earlier: before };
  }
  const inTotal: Pick<PerformanceQuery, 'group_by'> = { group_by: ['month'] };
  const [report, shown, before, hours] = await Promise.all([
    known ?? read({}),
    isWhole ? null : read({ ...periods.now, ...until, ...inTotal }),
    read({ ...periods.before, ...until, ...narrow, ...(isByHour ? inTotal : {}) }),
    isByHour && keepsHoursBefore(view, periods)
      ? read({ from: periods.before.from, to: counterpartOf(view, periods), ...narrow })
      : null,
  ]);
  return { periods, report, shown: shown ?? report, before, earlier: isByHour ? hours : before };
}

type ComparedOptions = {
  compares?: readonly MetricName[];
  metric?: MetricName;
  report?: PerformanceReport | undefined;
  onlyTotals?: boolean;
};

/** The day at the position of the view's last day that has begun. */
function counterpartOf({ from, to, today }: View, { before }: Compared): string {
  return addDays(before.from, daysBetween(from, to < today ? to : today));
}

/** The places of the earlier rows of a chart over time. */
export const earlierPlaces = (view: View, unit: AxisUnit, periods: Periods): AxisPlace[] =>
  placesIn(
    { ...view, ...periods.before, ...(unit === 'hour' ? { to: counterpartOf(view, periods) } : {}) },
    unit,
  );

/** Whether a metric's total is compared: one without hours is not if hours are. */
export const isCompared = ({ periods }: Pick<ComparedReport, 'periods'>, name: MetricName): boolean =>
  periods !== null && (periods.untilHour === null || isHourly(name));

/** A metric's total over what is shown. */
export const comparedTotal = (compared: ComparedReport, name: MetricName): number | null =>
  numberOf(compared.shown.totals[name]);

/**
 * The last of the compared days of whose devices day N is over, for a metric by day N that has younger devices, too; null for any other metric
 * and if it has none.
 */
function lastOver(name: MetricName, { now }: Compared, { today }: Pick<View, 'today'>): string | null {
  const { day } = METRIC_DEFINITIONS[name];
  if (day === undefined) return null;
  const last = addDays(today, -day - 1);
  return last < now.to ? last : null;
}

/**
 * Whether the change of a metric of the compared days would mislead, because their devices are young. A metric by day N counts each day of their
 * lives only for the devices that have completed it, so it can be compared once day N is over for at least half of the days.
 */
export function isGrowing(name: MetricName, periods: Compared, { today }: Pick<View, 'today'>): boolean {
  const { from, to } = periods.now;
  if (OF_ACQUIRED.includes(name)) return daysBetween(to, today) < MATURE_DAYS;
  const last = lastOver(name, periods, { today });
  return last !== null && 2 * (daysBetween(from, last) + 1) < daysBetween(from, to) + 1;
}

const toneOf = (name: MetricName, by: number): 'up' | 'down' | 'muted' => {
  const { more } = METRIC_DEFINITIONS[name];
  if (by === 0 || more === 'neutral') return 'muted';
  return by > 0 === (more !== 'bad') ? 'up' : 'down';
};

/** From here on, a change is easier to read as a multiple: 737×, not 73,635%. */
const MULTIPLE = 10;
/** From here on, a change has no decimals; below it has one, so that the changes of a column are as long. */
const LARGE_CHANGE = 1;

/** The size of a share, without its direction. */
const shareText = (by: number): string =>
  by >= MULTIPLE
    ? `${count(Math.round(by + 1))}×`
    : percent(Math.abs(by), by === 0 || Math.abs(by) >= LARGE_CHANGE ? 0 : 1);

const POINTS = new Intl.NumberFormat('en-GB', { minimumFractionDigits: 1, maximumFractionDigits: 1 });

/** The size of a change, without its direction: `3.1 pt`, `12%`, `$1.45`. */
export function sizeText(name: MetricName, change: Change, currency: string): string {
  if (change.in === 'points') return `${POINTS.format(Math.abs(change.by) * 100)} pt`;
  return change.in === 'share' ? shareText(change.by) : showMetric(name, Math.abs(change.by), currency);
}

/** A change as a small pill; with what it was before, for a cell that shows nothing else of it. */
export const Pill = ({
  name,
  change,
  currency,
  before,
}: {
  name: MetricName;
  change: Change;
  currency: string;
  before?: string;
}) => {
  const { by } = change;
  const tone = toneOf(name, by);
  const than = before === undefined ? '' : by === 0 ? ` as ${before} before` : ` than ${before}`;
  return (
    <span class={tone === 'muted' ? 'pill' : `pill ${tone}`}>
      {by > 0 ? '▲' : by < 0 ? '▼' : ''} {sizeText(name, change, currency)}
      <span class="visually-hidden">{(by > 0 ? ' more' : by < 0 ? ' less' : ' as much') + than}</span>
    </span>
  );
};

/** The change of a row's figure within its cell, with the earlier value as its title; empty if it is not known. */
export const ChangePill = ({
  name,
  now,
  earlier: { value: was, lacks, now: compared = numberOf(now) },
  currency,
}: {
  name: MetricName;
  now: unknown;
  earlier: Earlier;
  currency: string;
}) => {
  // The room of a pill, so that the figures of a column stay below each other.
  const change = changeOf(name, compared, was);
  if (change === null || was === null) return <span class="changed" />;
  const before = showMetric(name, was, currency);
  return (
    <span class="changed" title={`${before} before`}>
      <Pill name={name} change={change} currency={currency} before={before} />
      <Mark amounts={lacks} />
    </span>
  );
};

/**
 * A paragraph of one sentence that says which days the figures cover and are compared with. `without` names metrics that are not compared by hour, `metric` is
 * the one that a table compares.
 */
export const ComparedDays = ({
  view,
  compared: { periods },
  without = '',
  metric,
}: {
  view: View;
  compared: Pick<ComparedReport, 'periods'>;
  without?: string;
  metric?: MetricName;
}) => {
  const days = comparedDays(view);
  if (!days) return null;
  if (!periods)
    return (
      <p>
        <span class="muted compared">{`Today so far, not compared${whyNoHours(view, days)}`}</span>
      </p>
    );
  const { today } = view;
  const { now, before, untilHour } = periods;
  const until = untilHour === null ? '' : ` until ${clock(untilHour)}`;
  const rest =
    untilHour === null
      ? view.to >= today && '; today is left out until it is over'
      : without && `; ${without} so far`;
  const growing =
    metric &&
    isGrowing(metric, periods, view) &&
    `; ${METRIC_DEFINITIONS[metric].label} is still growing, without a change`;
  const over = metric && !growing && overText(metric, periods, view);
  return (
    <p>
      <span class="muted compared">
        {`${shortDays(now, today)}${until} compared with ${shortDays(before, today)}${until}${rest || ''}${growing || ''}`}
        {over && `. ${over}`}
      </span>
    </p>
  );
};

/** Which devices of the compared days have completed the day of a metric by day N; null if all have, and for any other metric. */
export function overText(name: MetricName, periods: Compared, view: Pick<View, 'today'>): string | null {
  const last = lastOver(name, periods, view);
  if (last === null || last < periods.now.from) return null;
  return `Day ${METRIC_DEFINITIONS[name].day} is over for the devices acquired until ${dateText(last, view.today)}.`;
}

/** Why no part of today is compared; empty if its first hour is not over or the figures have no hours. */
function whyNoHours(view: View, days: Compared): string {
  if (!knowsHours([], view)) return ': hours are not known by country, OS or app version';
  return keepsHoursBefore(view, days) ? '' : `: hours are kept for ${HOURS_KEPT_DAYS} days`;
}

/** The key of a row among the rows of reports with the same groupings. */
export const keyOf = (groups: readonly string[], row: Readonly<Record<string, unknown>>): string =>
  JSON.stringify(groups.map((name) => row[`${name}_id`] ?? row[name] ?? null));

/** The earlier value of a metric for every group, by `keyOf`, with what it lacks: null if the group may have been cut off, 0 for a sum without data. */
export function figuresBefore(
  groups: readonly string[],
  before: PerformanceReport | null,
  name: MetricName,
): (row: PerformanceRow) => Earlier {
  const rows = before?.data.filter(isOfGroup) ?? [];
  const known = new Map(rows.map((row) => [keyOf(groups, row), row]));
  const isCut = before === null || before.data.some((row) => row.is_other);
  return (row) => {
    const found = known.get(keyOf(groups, row));
    if (found) return earlierOf(name, found);
    return { value: isCut ? null : nothingOf(name), lacks: [] };
  };
}

/** What each group had before of a metric, with what it has now of the compared days. */
export function comparedFigures(
  groups: readonly string[],
  { report, shown, before }: Pick<ComparedReport, 'report' | 'shown' | 'before'>,
  name: MetricName,
): (row: PerformanceRow) => Earlier {
  const earlier = figuresBefore(groups, before, name);
  if (report === shown) return earlier;
  const now = figuresBefore(groups, shown, name);
  return (row) => ({ ...earlier(row), now: now(row).value });
}
