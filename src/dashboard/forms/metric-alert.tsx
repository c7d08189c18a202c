import { type Evaluated, type MetricRule, RULE_GROUPS, valueText } from '#alerts';
import { dayText } from '../shell/dates.ts';
import { Card, Field, Table } from '../shell/parts.tsx';
import { ViewFields } from '../shell/report.tsx';
import { type View, viewQuery } from '../shell/view.ts';
import { groupLabel } from '../tables/groups.tsx';
import { METRIC_NAMES, METRICS } from '../tables/metrics.ts';
import type { Submitted } from './form.ts';

export const PREVIEW_DAYS = ['30', '90'] as const;

const START: Readonly<Record<string, string>> = {
  ...{ metric: 'roas', condition: 'below', threshold: '50', days: '7', group_by: '' },
  ...{ min_spend: '', min_installs: '', preview: '30' },
};

/** A form on a page of its own: it previews by GET and creates by POST, and works without scripts. */
export const MetricAlertForm = ({ view, values, faults }: Required<Submitted> & { view: View }) => {
  const of = (name: string) => values[name] ?? START[name] ?? '';
  const field = (name: string) => ({ name, value: of(name), faults });
  return (
    <Card title="Alert when">
      <form method="get" action="/alerts/new" class="row">
        <ViewFields view={view} />
        <Field
          {...field('metric')}
          label="Metric"
          options={METRIC_NAMES.map((name) => [name, METRICS[name].label] as const)}
        />
        <Field
          {...field('condition')}
          label="Is"
          options={[
            ['below', 'Below'],
            ['above', 'Above'],
          ]}
        />
        <Field
          {...field('threshold')}
          label="Threshold"
          type="number"
          step="any"
          hint={`Ratios in %, amounts in ${view.application.currency.toUpperCase()}`}
          required
        />
        <Field {...field('days')} label="Over full days" type="number" min={1} max={30} required />
        <Field
          {...field('group_by')}
          label="For each"
          options={[
            ['', 'Everything together'],
            ...RULE_GROUPS.map((name) => [name, groupLabel(name)] as const),
          ]}
          hint="Each is judged apart"
        />
        <Field
          {...field('min_spend')}
          label={`Spend at least (${view.application.currency.toUpperCase()})`}
          type="number"
          step="any"
          min={0}
        />
        <Field {...field('min_installs')} label="Installs at least" type="number" step="any" min={0} />
        <Field
          {...field('preview')}
          label="Preview"
          options={PREVIEW_DAYS.map((days) => [days, `Last ${days} days`] as const)}
        />
        <button type="submit" class="quiet">
          Show preview
        </button>
        <button type="submit" formmethod="post" formaction={`/alerts/new${viewQuery(view)}`}>
          Create alert
        </button>
      </form>
    </Card>
  );
};

/** The days and groups for which a rule would have fired. */
export const Preview = ({
  view,
  rule,
  days,
}: {
  view: View;
  rule: MetricRule;
  days: readonly Evaluated[];
}) => {
  const { currency } = view.application;
  const rows = days.flatMap(({ to, groups }) =>
    groups.filter(({ firing }) => firing === true).map((group) => ({ to, ...group })),
  );
  const firingDays = new Set(rows.map(({ to }) => to)).size;
  const leftOut = Math.max(0, ...days.map((day) => day.leftOut));
  return (
    <Card title="Preview">
      <p>{`It would have fired on ${firingDays} of the last ${days.length} days.`}</p>
      {leftOut > 0 && <p class="hint">{`Up to ${leftOut} smaller groups are left out.`}</p>}
      <Table
        caption="Days on which it would have fired"
        rows={rows}
        empty="No day and no group was past the threshold."
        columns={[
          { label: 'Day', cell: ({ to }) => dayText(to, view.today) },
          ...(rule.group_by
            ? [
                {
                  label: groupLabel(rule.group_by),
                  cell: ({ name }: (typeof rows)[number]) => <bdi>{name}</bdi>,
                },
              ]
            : []),
          {
            label: METRICS[rule.metric].label,
            numeric: true,
            cell: ({ value }) => valueText(rule, value, currency),
          },
        ]}
      />
    </Card>
  );
};
