import { addDays, daysBetween } from '#lib/time';
import type { PerformanceReport } from '#reports';
import { type ComparedReport, change, figuresBefore, shareText, toneOf } from './compared.tsx';
import { NOTHING } from './format.ts';
import { isTimeGroup } from './groups.tsx';
import { type MetricName, showMetric } from './metrics.ts';
import type { Column } from './parts.tsx';
import type { View } from './view.ts';

type Row = PerformanceReport['data'][number];

const beforeOf = (metric: MetricName) => `${metric}_before`;
const changeOf = (metric: MetricName) => `${metric}_change`;

/**
 * Adds the earlier value of the chosen metric, and its change, to rows. The row of a day is compared with the day at the same position. Weeks
 * and months are not compared, because two periods need not start on the same weekday or date.
 */
export function withBefore(
  groups: readonly string[],
  metric: MetricName,
  view: View,
  compared: ComparedReport,
): Row[] {
  const { report, complete, days, before, part } = compared;
  const isByTime = groups.some(isTimeGroup);
  if (!before || !(days?.complete || part) || (isByTime && groups.join() !== 'day')) return report.data;
  const ended = figuresBefore(groups, { before: complete ?? report }, metric);
  const earlier = figuresBefore(groups, compared, metric);
  const apart = days ? daysBetween(days.before.from, view.from) : 0;
  return report.data.map((row) => {
    if (row.is_other || (isByTime && String(row.day) >= view.today && !part)) {
      return { ...row, [beforeOf(metric)]: null, [changeOf(metric)]: null };
    }
    const was = earlier(isByTime ? { ...row, day: addDays(String(row.day), -apart) } : row);
    const is = isByTime && !part ? row[metric] : ended(row);
    const by = was === null || typeof is !== 'number' ? null : is - was;
    return { ...row, [beforeOf(metric)]: was, [changeOf(metric)]: by };
  });
}

const Changed = ({ row, metric, view }: { row: Row; metric: MetricName; view: View }) => {
  const [by, was] = [row[changeOf(metric)], row[beforeOf(metric)]];
  if (typeof by !== 'number' || typeof was !== 'number') return <>{NOTHING}</>;
  const share = change(was + by, was);
  return (
    <span class={toneOf(metric, by)}>
      {by > 0 ? '+' : by < 0 ? '−' : ''}
      {showMetric(metric, Math.abs(by), view.currency)}
      {share === null ? '' : ` (${shareText(share)})`}
    </span>
  );
};

/** The sort order for `before` or `change`, with `-` before the name for largest first. */
export const changeOrder = (sort: string, metric: MetricName): string =>
  sort.replace(
    /^(-?)(before|change)$/,
    (_, order, name) => order + (name === 'before' ? beforeOf(metric) : changeOf(metric)),
  );

/** The columns for the earlier value and its change. `heading` returns how the table is sorted and where a click leads. */
export function changeColumns(
  rows: readonly Row[],
  metric: MetricName,
  view: View,
  heading: (name: string) => { href: string; sort: string },
): Column<Row>[] {
  if (!rows.some((row) => beforeOf(metric) in row)) return [];
  const sorted = (name: string) => {
    const { href, sort } = heading(name);
    return {
      numeric: true,
      sortHref: href,
      ...(sort === name ? { sorted: 'ascending' as const } : {}),
      ...(sort === `-${name}` ? { sorted: 'descending' as const } : {}),
    };
  };
  return [
    {
      label: 'Before',
      ...sorted('before'),
      cell: (row) => showMetric(metric, row[beforeOf(metric)], view.currency),
    },
    {
      label: 'Change',
      ...sorted('change'),
      cell: (row) => <Changed row={row} metric={metric} view={view} />,
    },
  ];
}
