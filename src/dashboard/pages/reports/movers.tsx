import { DIMENSIONS, findChanges, PerformanceQuery } from '#reports';
import { count, money } from '../../shell/format.ts';
import { Card } from '../../shell/parts.tsx';
import { comparedDays } from '../../shell/period.ts';
import { ask, viewAsked } from '../../shell/report.tsx';
import { type View, viewQuery } from '../../shell/view.ts';
import { ChangeShare, ComparedDays, change } from '../../tables/compared.tsx';
import { GroupCell, groupLabel, groupName } from '../../tables/groups.tsx';
import type { MetricName } from '../../tables/metrics.ts';
import { askedOf, comparedPeriods } from '../../tables/part-of-day.ts';

const MAX_MOVERS = 3;
/** The groupings that explain a change of revenue, and the metric to compare. Networks have no purchases. */
const BY: readonly { group: string; metric: MetricName; also: MetricName }[] = [
  { group: 'creative', metric: 'revenue', also: 'installs' },
  { group: 'country', metric: 'revenue', also: 'installs' },
  { group: 'media_source', metric: 'ad_revenue', also: 'impressions' },
];

const ALL: Readonly<Record<string, string>> = {
  creative: 'All creatives',
  country: 'All countries',
  media_source: 'All networks',
};

const ALSO: Partial<Record<MetricName, string>> = { installs: 'installs', impressions: 'impressions' };

/** What changed revenue most, by creative, country and network. Null if there is nothing to compare with. */
export async function Movers(env: Env, view: View, now: number) {
  if (!comparedDays(view)) return null;
  /** What to compare for a grouping; null without hours for it where only hours can be compared. */
  const periodsOf = (group: string, metrics: readonly MetricName[]) => {
    const periods = comparedPeriods(view, [group], metrics);
    return periods && { now: askedOf(periods), before: askedOf({ ...periods, now: periods.before }) };
  };
  const offered = BY.filter(({ group }) => Object.hasOwn(DIMENSIONS, group));
  const found = await Promise.all(
    offered.map(async ({ group, metric, also }) => {
      const periods = periodsOf(group, [metric, also]);
      const query = ask(PerformanceQuery, { ...viewAsked(view), group_by: group });
      const wanted = { metric, also, count: MAX_MOVERS };
      const movers = periods ? await findChanges(env, view.application, query, periods, wanted, now) : [];
      return { group, metric, also, movers };
    }),
  );
  const shown = found.filter(({ movers }) => movers.length > 0);
  if (shown.length === 0) return null;
  const amount = (value: number) => money(value, view.currency);
  return (
    <Card
      title="What changed revenue most"
      aside={<ComparedDays view={view} compared={{ periods: comparedPeriods(view, [], []) }} />}
    >
      <div class="movers">
        {shown.map((one) => (
          <section>
            <h3>{groupLabel(one.group)}</h3>
            <ul>
              {one.movers.map(({ row, now: later, before, also }) => {
                const by = change(later, before);
                return (
                  <li>
                    <span class="mover-name" title={groupName(one.group, row)}>
                      <GroupCell view={view} path="/" name={one.group} row={row} />
                    </span>
                    <strong class={later > before ? 'up' : 'down'}>
                      {later > before ? '+' : '−'}
                      {amount(Math.abs(later - before))}
                    </strong>
                    <span class="muted">
                      {by === null ? 'none before' : <ChangeShare name="revenue" by={by} />}
                      {`, ${count(also.before)} → ${count(also.now)} ${ALSO[one.also] ?? ''}`}
                    </span>
                  </li>
                );
              })}
            </ul>
            <a href={`/breakdown${viewQuery(view, { by: one.group, metric: one.metric, sort: '-change' })}`}>
              {ALL[one.group] ?? 'All'}
            </a>
          </section>
        ))}
      </div>
    </Card>
  );
}
