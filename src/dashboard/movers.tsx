import { DIMENSIONS, PerformanceQuery, reportPerformance } from '#reports';
import { ChangeShare, change, keyOf } from './compared.tsx';
import { count, money } from './format.ts';
import { GroupCell, groupLabel, groupName } from './groups.tsx';
import type { MetricName } from './metrics.ts';
import { clock, knowsHours, partOfDay } from './part-of-day.ts';
import { Card } from './parts.tsx';
import { comparedDays } from './period.ts';
import { ask, viewAsked } from './report.tsx';
import { type View, viewQuery } from './view.ts';

const MAX_MOVERS = 3;
/** More than this are not looked through. With fewer, no ranking is needed, and none of them is left out. */
const MAX_LOOKED_THROUGH = 5_000;

/** The groupings that explain a change of revenue, and the metric to compare. Networks have no purchases. */
const BY: readonly { group: string; metric: MetricName; also: MetricName }[] = [
  { group: 'creative', metric: 'revenue', also: 'installs' },
  { group: 'country', metric: 'revenue', also: 'installs' },
  { group: 'media_source', metric: 'ad_revenue', also: 'impressions' },
];

type Row = Record<string, string | number | boolean | null>;
type Mover = { row: Row; now: number; before: number; also: { now: number; before: number } };

const numberIn = (row: Row, name: string) => (typeof row[name] === 'number' ? row[name] : 0);

/**
 * The groups whose metric changed most between two reports with the same grouping, largest change first. Groups without a row of their own in one
 * of the reports, because it has too many, are left out: their earlier value is unknown.
 */
export function findMovers(
  group: string,
  now: readonly Row[],
  before: readonly Row[],
  { metric, also }: { metric: MetricName; also: MetricName },
): Mover[] {
  const groups = [group];
  const isCut = { now: now.some((row) => row.is_other), before: before.some((row) => row.is_other) };
  const byKey = (rows: readonly Row[]) =>
    new Map(rows.filter((row) => !row.is_other).map((row) => [keyOf(groups, row), row]));
  const [later, earlier] = [byKey(now), byKey(before)];
  const movers = [...new Set([...later.keys(), ...earlier.keys()])].flatMap((key): Mover[] => {
    const [one, two] = [later.get(key), earlier.get(key)];
    const row = one ?? two;
    if (!row || (!one && isCut.now) || (!two && isCut.before)) return [];
    const of = (name: string) => ({
      now: one ? numberIn(one, name) : 0,
      before: two ? numberIn(two, name) : 0,
    });
    return [{ row, ...of(metric), also: of(also) }];
  });
  return movers
    .filter((mover) => mover.now !== mover.before)
    .sort((left, right) => Math.abs(right.now - right.before) - Math.abs(left.now - left.before))
    .slice(0, MAX_MOVERS);
}

const ALL: Readonly<Record<string, string>> = {
  creative: 'All creatives',
  country: 'All countries',
  media_source: 'All networks',
};

const ALSO: Partial<Record<MetricName, string>> = { installs: 'installs', impressions: 'impressions' };

/** What changed revenue most, by creative, country and network. Null if there is nothing to compare with. */
export async function Movers(env: Env, view: View, now: number) {
  const days = comparedDays(view, view.comparison);
  if (!days) return null;
  const { complete, before } = days;
  const part = partOfDay(view, days);
  /** What to compare for a grouping, including the part of today if its hours exist; null if no day is over. */
  const periodsOf = (group: string) => {
    if (part && knowsHours([group], view)) {
      const until_hour = part.untilHour;
      return [
        { from: view.from, to: part.today, until_hour },
        { from: before.from, to: part.before, until_hour },
      ];
    }
    return complete && [complete, before];
  };
  const offered = BY.filter(({ group }) => Object.hasOwn(DIMENSIONS, group));
  const found = await Promise.all(
    offered.map(async ({ group, metric, also }) => {
      const periods = periodsOf(group) ?? [];
      const query = ask(PerformanceQuery, { ...viewAsked(view), group_by: group });
      const [later, earlier] = await Promise.all(
        periods.map((period) =>
          reportPerformance(
            env,
            view.application,
            { ...query, ...period, limit: MAX_LOOKED_THROUGH, metrics: [metric, also], totals: false },
            now,
          ),
        ),
      );
      const movers = findMovers(group, later?.data ?? [], earlier?.data ?? [], { metric, also });
      return { group, metric, also, movers };
    }),
  );
  const shown = found.filter(({ movers }) => movers.length > 0);
  if (shown.length === 0) return null;
  const amount = (value: number) => money(value, view.currency);
  return (
    <Card
      title="What changed revenue most"
      aside={
        part &&
        complete && (
          <span class="muted">{`Countries and networks without today; creatives until ${clock(part.untilHour)}`}</span>
        )
      }
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
