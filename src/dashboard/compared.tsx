import { daysBetween } from '#lib/time';
import { PerformanceQuery, type PerformanceReport, reportPerformance } from '#reports';
import { shortDays } from './axis.ts';
import { count, percent } from './format.ts';
import { type MetricName, showMetric } from './metrics.ts';
import { type Compared, comparedDays } from './period.ts';
import { ask, viewAsked } from './report.tsx';
import type { View } from './view.ts';

/** Devices go on bringing revenue; what they brought is compared once the youngest of them had this many days. */
export const MATURE_DAYS = 30;

/** More of these is neither good nor bad news. */
const NEUTRAL: ReadonlySet<string> = new Set(['spend']);
/** Less of these is good news. */
const COSTS: ReadonlySet<string> = new Set(['cpi', 'failed_purchases']);
/** Figures that grow with the age of the devices acquired in the period. */
const GROWING: ReadonlySet<string> = new Set(['roas', 'roas_blended']);

type Row = PerformanceReport['data'][number];
type Totals = Readonly<Record<string, unknown>>;

export type ComparedReport = {
  report: PerformanceReport;
  days: Compared | null;
  /** The report of the part of the period that is over, when it is not the whole period's. */
  complete: PerformanceReport | null;
  before: PerformanceReport | null;
};

/**
 * The performance report of a view and of what it is compared with, both with the same groupings. `complete` says what is wanted of
 * the part that is over.
 */
export async function readCompared(
  env: Env,
  view: View,
  asked: {
    group_by: string;
    limit?: number;
    q?: string;
    metrics?: readonly MetricName[];
    /** The metrics that are wanted of what it is compared with, where those are fewer. */
    metricsBefore?: readonly MetricName[];
    totals?: boolean;
  },
  now: number,
  { complete: wanted = 'totals' }: { complete?: 'totals' | 'rows' | 'nothing' } = {},
): Promise<ComparedReport> {
  const days = comparedDays(view, view.comparison);
  const { metrics, metricsBefore = metrics, totals, ...parameters } = asked;
  const query = {
    ...ask(PerformanceQuery, { ...viewAsked(view), ...parameters }),
    ...(metrics ? { metrics } : {}),
    ...(totals === undefined ? {} : { totals }),
  };
  const read = (changes: Partial<PerformanceQuery> & { metrics?: readonly MetricName[] }) =>
    reportPerformance(env, view.application, { ...query, ...changes }, now);
  const isWhole = !days?.complete || days.complete.to === view.to || wanted === 'nothing';
  const [report, complete, before] = await Promise.all([
    read({}),
    isWhole || !days?.complete
      ? null
      : read({ ...days.complete, ...(wanted === 'rows' ? {} : { group_by: ['month'] }) }),
    days ? read({ ...days.before, ...(metricsBefore ? { metrics: metricsBefore } : {}) }) : null,
  ]);
  return { report, days, complete, before };
}

const figure = (totals: Totals | undefined, name: string): number | null => {
  const value = totals?.[name];
  return typeof value === 'number' ? value : null;
};

/** The change from one figure to another; null where it has nothing to be measured against. */
export function change(now: number | null, before: number | null): number | null {
  return now === null || before === null || before === 0 ? null : now / before - 1;
}

/** Why a figure of a period can't be compared yet; null where it can. */
export function unreadyReason(name: string, view: Pick<View, 'to' | 'today'>, days: Compared): string | null {
  if (!days.complete) return 'today is not over';
  const age = daysBetween(view.to < view.today ? view.to : view.today, view.today);
  return GROWING.has(name) && age < MATURE_DAYS ? 'still growing' : null;
}

export const toneOf = (name: string, by: number): 'up' | 'down' | 'muted' => {
  if (by === 0 || NEUTRAL.has(name)) return 'muted';
  return by > 0 === !COSTS.has(name) ? 'up' : 'down';
};

/** From here on a change reads better as a multiple: 737×, not 73,635%. */
const MULTIPLE = 10;

/** How large a change is, without its direction. */
export const shareText = (by: number): string =>
  by >= MULTIPLE ? `${count(Math.round(by + 1))}×` : percent(Math.abs(by));

/** A change as an arrow and a share. */
export const ChangeShare = ({ name, by }: { name: string; by: number }) => (
  <span class={toneOf(name, by)}>
    {by > 0 ? '▲' : by < 0 ? '▼' : ''} {shareText(by)}
    <span class="visually-hidden">{by > 0 ? ' more' : by < 0 ? ' less' : ' as much'}</span>
  </span>
);

/** How a figure changed, and what it was before; or what it was and why no change is computed. */
export const Change = ({
  name,
  view,
  compared: { report, days, complete, before },
}: {
  name: MetricName;
  view: View;
  compared: ComparedReport;
}) => {
  if (!days || !before) return null;
  const earlier = figure(before.totals, name);
  const was = <span class="muted"> from {showMetric(name, earlier, view.currency)}</span>;
  const reason = unreadyReason(name, view, days);
  if (reason) {
    return (
      <span class="muted">
        {showMetric(name, earlier, view.currency)} before; {reason}
      </span>
    );
  }
  const by = change(figure((complete ?? report).totals, name), earlier);
  if (by === null) return <span class="muted">{showMetric(name, earlier, view.currency)} before</span>;
  return (
    <span>
      <ChangeShare name={name} by={by} />
      {was}
    </span>
  );
};

/** What is compared with what, in a sentence. */
export const ComparedDays = ({ view, days }: { view: View; days: Compared | null }) => {
  if (!days) return null;
  const { today } = view;
  const before = shortDays(days.before, today);
  if (!days.complete) return <span class="muted">{`Today so far; ${before} for comparison`}</span>;
  const partial = days.complete.to !== view.to && view.to >= today;
  return (
    <span class="muted">
      {partial
        ? `${shortDays(days.complete, today)} compared with ${before}; today is left out until it is over`
        : `Compared with ${before}`}
    </span>
  );
};

/** A row's identity among the rows of a report with the same groupings. */
export const keyOf = (groups: readonly string[], row: Readonly<Record<string, unknown>>): string =>
  JSON.stringify(groups.map((name) => row[`${name}_id`] ?? row[name] ?? null));

/** A figure of every group before, by `keyOf`: null where the group may have been cut off, 0 where it brought nothing. */
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
    return isCut ? null : 0;
  };
}
