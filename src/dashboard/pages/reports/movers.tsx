import { count, money, signOf } from '#lib/format';
import { findChanges, PerformanceQuery, REPORT_DIMENSIONS } from '#reports';
import { Card } from '../../shell/parts.tsx';
import { comparedDays } from '../../shell/period.ts';
import { ask, viewAsked } from '../../shell/report.tsx';
import { type View, viewQuery } from '../../shell/view.ts';
import { ComparedDays } from '../../tables/compared.tsx';
import { GroupCell, groupName, groupWord } from '../../tables/groups.tsx';
import type { MetricName } from '../../tables/metrics.ts';
import { askedOf, comparedPeriods } from '../../tables/part-of-day.ts';

/** Of each grouping, and of all together. */
const MAX_MOVERS = 3;
const MAX_SHOWN = 6;
/** The groupings that explain a change of revenue, and the metric to compare. Networks have no purchases. */
const BY: readonly { group: string; metric: MetricName; also: MetricName }[] = [
  { group: 'creative', metric: 'revenue', also: 'installs' },
  { group: 'country', metric: 'revenue', also: 'installs' },
  { group: 'media_source', metric: 'ad_revenue', also: 'impressions' },
];

const ALL: Readonly<Record<string, string>> = {
  creative: 'Creatives',
  country: 'Countries',
  media_source: 'Networks',
};

const metricOf = (group: string): MetricName => BY.find((one) => one.group === group)?.metric ?? 'revenue';

const ALSO: Partial<Record<MetricName, string>> = { installs: 'installs', impressions: 'impressions' };

/** What changed revenue most, by creative, country and network. Null if there is nothing to compare with. */
export async function Movers(env: Env, view: View, now: number) {
  if (!comparedDays(view)) return null;
  /** What to compare for a grouping; null without hours for it where only hours can be compared. */
  const periodsOf = (group: string, metrics: readonly MetricName[]) => {
    const periods = comparedPeriods(view, [group], metrics);
    return periods && { now: askedOf(periods), before: askedOf({ ...periods, now: periods.before }) };
  };
  const offered = BY.filter(({ group }) => Object.hasOwn(REPORT_DIMENSIONS, group));
  const found = await Promise.all(
    offered.map(async ({ group, metric, also }) => {
      const periods = periodsOf(group, [metric, also]);
      const query = ask(PerformanceQuery, { ...viewAsked(view), group_by: group });
      const wanted = { metric, also, count: MAX_MOVERS };
      const movers = periods ? await findChanges(env, view.application, query, periods, wanted, now) : [];
      return { group, metric, also, movers };
    }),
  );
  const shown = found
    .flatMap(({ group, metric, also, movers }) =>
      movers.map((mover) => ({ group, metric, alsoName: also, ...mover, by: mover.now - mover.before })),
    )
    .sort((left, right) => Math.abs(right.by) - Math.abs(left.by))
    .slice(0, MAX_SHOWN);
  if (shown.length === 0) return null;
  const groups = [...new Set(shown.map(({ group }) => group))];
  return (
    <Card
      title="What changed revenue most"
      info={<ComparedDays view={view} compared={{ periods: comparedPeriods(view, [], []) }} />}
      aside={
        <span class="asides">
          {groups.map((group) => (
            <a href={`/breakdown${viewQuery(view, { by: group, metric: metricOf(group), sort: '-change' })}`}>
              {ALL[group] ?? 'All'}
            </a>
          ))}
        </span>
      }
    >
      <ul class="movers">
        {shown.map(({ group, row, by, also, alsoName }) => (
          <li>
            <span class="mover-name" title={groupName(group, row)}>
              <GroupCell view={view} path="/" name={group} row={row} />
              <small>{groupWord(group)}</small>
            </span>
            <span class={by > 0 ? 'pill up' : 'pill down'}>
              {signOf(by)}
              {money(Math.abs(by), view.currency)}
            </span>
            <span class="muted">{`${count(also.before)} → ${count(also.now)} ${ALSO[alsoName] ?? ''}`}</span>
          </li>
        ))}
      </ul>
    </Card>
  );
}
