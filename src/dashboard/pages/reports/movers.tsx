import { readAs } from '#http';
import { count, money, signOf } from '#lib/format';
import { findChanges, PerformanceQuery, REPORT_DIMENSIONS } from '#reports';
import { Card } from '../../shell/parts.tsx';
import { comparedDays } from '../../shell/period.ts';
import { viewAsked } from '../../shell/report.tsx';
import { type View, viewQuery } from '../../shell/view.ts';
import { ComparedDays } from '../../tables/compared.tsx';
import { GroupCell, groupName, groupWord } from '../../tables/groups.tsx';
import type { MetricName } from '../../tables/metrics.ts';
import { askedOf, comparedPeriods } from '../../tables/part-of-day.ts';

/** Of each grouping, and of all together. */
const MAX_MOVERS = 3;
const MAX_SHOWN = 6;
/** The groupings that explain a change of revenue, what all of one are called, and the metric to compare. Networks have no purchases. */
const BY: readonly { group: string; all: string; metric: MetricName; also: MetricName }[] = [
  { group: 'creative', all: 'Creatives', metric: 'revenue', also: 'installs' },
  { group: 'country', all: 'Countries', metric: 'revenue', also: 'installs' },
  { group: 'media_source', all: 'Networks', metric: 'ad_revenue', also: 'impressions' },
];

/** What changed revenue most, by creative, country and network. Null if there is nothing to compare with. */
export async function Movers(env: Env, view: View) {
  if (!comparedDays(view)) return null;
  /** What to compare for a grouping; null without hours for it where only hours can be compared. */
  const periodsOf = (group: string, metrics: readonly MetricName[]) => {
    const periods = comparedPeriods(view, [group], metrics);
    return periods && { now: askedOf(periods), before: askedOf({ ...periods, now: periods.before }) };
  };
  const offered = BY.filter(({ group }) => Object.hasOwn(REPORT_DIMENSIONS, group));
  const found = await Promise.all(
    offered.map(async (of) => {
      const { group, metric, also } = of;
      const periods = periodsOf(group, [metric, also]);
      const query = readAs(PerformanceQuery, { ...viewAsked(view), group_by: group });
      const wanted = { metric, also, count: MAX_MOVERS };
      const movers = periods
        ? await findChanges(env, view.application, query, periods, wanted, view.now)
        : [];
      return movers.map((mover) => ({ of, ...mover, by: mover.now - mover.before }));
    }),
  );
  const shown = found
    .flat()
    .sort((left, right) => Math.abs(right.by) - Math.abs(left.by))
    .slice(0, MAX_SHOWN);
  if (shown.length === 0) return null;
  const groups = [...new Set(shown.map(({ of }) => of))];
  return (
    <Card
      title="What changed revenue most"
      info={<ComparedDays view={view} compared={{ periods: comparedPeriods(view, [], []) }} />}
      aside={
        <span class="asides">
          {groups.map(({ group, all, metric }) => (
            <a href={`/breakdown${viewQuery(view, { by: group, metric, sort: '-change' })}`}>{all}</a>
          ))}
        </span>
      }
    >
      <ul class="movers">
        {shown.map(({ of: { group, also: counted }, row, by, also }) => (
          <li>
            <span class="mover-name" title={groupName(group, row)}>
              <GroupCell view={view} path="/" name={group} row={row} />
              <small>{groupWord(group)}</small>
            </span>
            <span class={by > 0 ? 'pill up' : 'pill down'}>
              {signOf(by)}
              {money(Math.abs(by), view.currency)}
            </span>
            <span class="muted">{`${count(also.before)} → ${count(also.now)} ${counted}`}</span>
          </li>
        ))}
      </ul>
    </Card>
  );
}
