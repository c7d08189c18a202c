import { changeOf, type Evaluated, type EvaluatedGroup, isChange, type MetricRule } from '#alerts';
import { columnText, count, RATIOS } from '#lib/format';
import { dayText } from '../../shell/dates.ts';
import { Card, cutMiddle, Name } from '../../shell/parts.tsx';
import type { View } from '../../shell/view.ts';
import { groupLabel } from '../../tables/groups.tsx';
import { METRIC_DEFINITIONS, metricColumn, placesOf, showMetric } from '../../tables/metrics.ts';
import { type Column, Table } from '../../tables/table.tsx';

const CELL = 7;
const HEIGHT = 16;
const GROUPS_NAMED = 5;
/** With more days than this, they are folded. */
const DAYS_OPEN = 10;

type PreviewedGroup = {
  name: string;
  key: string;
  days: { to: string; group: EvaluatedGroup | undefined }[];
};

/** The days of each group, the latest last; first those that fire most. */
function byGroup(evaluated: readonly Evaluated[]): PreviewedGroup[] {
  const inOrder = [...evaluated].reverse();
  const names = new Map(inOrder.flatMap(({ groups }) => groups.map(({ key, name }) => [key, name] as const)));
  const found = new Map(inOrder.map(({ to, groups }) => [to, new Map(groups.map((one) => [one.key, one]))]));
  const groups = [...names].map(([key, name]) => ({
    key,
    name,
    days: inOrder.map(({ to }) => ({ to, group: found.get(to)?.get(key) })),
  }));
  return groups.sort((left, right) => firingDays(right) - firingDays(left));
}

const firingDays = ({ days }: PreviewedGroup) => days.filter(({ group }) => group?.firing === true).length;

/** How often a message would have told that it starts: once, until it has recovered. */
function starts({ days }: PreviewedGroup): number {
  let [firing, found] = [false, 0];
  for (const { group } of days) {
    if (group?.firing === true && !firing) found++;
    firing = group?.firing ?? firing;
  }
  return found;
}

/** A mark per day: past the threshold, not past it, or nothing to judge. */
export const Strip = ({ days }: Pick<PreviewedGroup, 'days'>) => (
  <svg
    class="strip"
    viewBox={`0 0 ${days.length * CELL} ${HEIGHT}`}
    width={days.length * CELL}
    height={HEIGHT}
    aria-hidden="true"
  >
    {days.map(({ group }, index) => {
      const firing = group?.firing ?? null;
      const height = firing === null ? 2 : firing ? HEIGHT : 6;
      return (
        <rect
          class={firing === null ? 'none' : firing ? 'past' : 'fine'}
          x={index * CELL}
          y={HEIGHT - height}
          width={CELL - 2}
          height={height}
        />
      );
    })}
  </svg>
);

const Names = ({ names }: { names: readonly string[] }) => (
  <>
    {names.map((name, index) => (
      <>
        {index > 0 && ', '}
        <Name name={name} />
      </>
    ))}
  </>
);

/** Which groups are not judged: the smaller ones, and those that never have enough data. */
const NotJudged = ({
  groups,
  leftOut,
  leftOutNames,
}: {
  groups: readonly PreviewedGroup[];
  leftOut: number;
  leftOutNames: readonly string[];
}) => {
  const never = groups
    .filter(({ days }) => days.every(({ group }) => (group?.firing ?? null) === null))
    .map(({ name }) => name);
  const more = (all: number, named: number) => (all > named ? ` and ${count(all - named)} more` : '');
  return (
    <>
      {never.length > 0 && (
        <p class="hint">
          No data, or too little on every day: <Names names={never.slice(0, GROUPS_NAMED)} />
          {`${more(never.length, GROUPS_NAMED)}.`}
        </p>
      )}
      {leftOut > 0 && (
        <p class="hint">
          Left out on the last day, because only the largest are judged: <Names names={leftOutNames} />
          {`${more(leftOut, leftOutNames.length)}.`}
        </p>
      )}
    </>
  );
};

type FiringDay = EvaluatedGroup & { to: string };

/** The days on which a rule would have fired, each with its value and the same decimals. */
const FiringDays = ({ view, rule, rows }: { view: View; rule: MetricRule; rows: readonly FiringDay[] }) => {
  const { currency } = view.application;
  const places = placesOf(
    rule.metric,
    rows.flatMap(({ value, before }) => [value, before]),
    currency,
  );
  const groupColumn: Column<FiringDay>[] = rule.group_by
    ? [{ label: groupLabel(rule.group_by), cell: Name }]
    : [];
  const compared: Column<FiringDay>[] = isChange(rule.condition)
    ? [
        {
          label: 'Before',
          numeric: true,
          cell: ({ before }) => showMetric(rule.metric, before, currency, places),
        },
        { label: 'Change', numeric: true, cell: columnText(RATIOS, rows, changeOf) },
      ]
    : [];
  return (
    <Table
      caption="Days on which it would have fired"
      rows={rows}
      columns={[
        { label: 'Day', cell: ({ to }) => dayText(to, view.today) },
        ...groupColumn,
        {
          ...metricColumn(rule.metric, { currency }),
          cell: ({ value }) => showMetric(rule.metric, value, currency, places),
        },
        ...compared,
      ]}
    />
  );
};

/** The days and groups for which a rule would have fired, the latest day first. */
export const AlertPreview = ({
  view,
  rule,
  evaluated,
  days: asked,
  leftOutNames,
}: {
  view: View;
  rule: MetricRule;
  evaluated: readonly Evaluated[];
  /** How many days were asked for. */
  days: number;
  leftOutNames: readonly string[];
}) => {
  const groups = byGroup(evaluated);
  const firing = groups.filter((group) => firingDays(group) > 0);
  const rows = evaluated.flatMap(({ to, groups: judged }) =>
    judged.filter((group) => group.firing === true).map((group) => ({ to, ...group })),
  );
  const days = new Set(rows.map(({ to }) => to)).size;
  return (
    <Card title="Preview">
      <p>
        <strong>{`It would have fired on ${days} of the last ${evaluated.length} days.`}</strong>
      </p>
      {evaluated.length < asked && (
        <p class="hint">{`${asked} days would take too long to evaluate: these are the last ${evaluated.length}.`}</p>
      )}
      <Table
        caption="What would have fired"
        rows={firing}
        empty={`${METRIC_DEFINITIONS[rule.metric].label} was not past the threshold on any day.`}
        columns={[
          {
            label: rule.group_by ? groupLabel(rule.group_by) : 'Group',
            titleOf: ({ name }) => name,
            cell: ({ name }) => <bdi>{cutMiddle(name) || 'Everything together'}</bdi>,
          },
          { label: 'Days', numeric: true, cell: (group) => count(firingDays(group)) },
          { label: 'Messages', numeric: true, cell: (group) => count(starts(group)) },
          {
            label: `Last ${evaluated.length} days`,
            wideOnly: true,
            numeric: true,
            cell: (group) => <Strip days={group.days} />,
          },
        ]}
      />
      {rows.length > 0 && (
        <details class="fold" open={rows.length <= DAYS_OPEN}>
          <summary>Show each day</summary>
          <FiringDays view={view} rule={rule} rows={rows} />
        </details>
      )}
      <NotJudged groups={groups} leftOut={evaluated[0]?.leftOut ?? 0} leftOutNames={leftOutNames} />
    </Card>
  );
};
