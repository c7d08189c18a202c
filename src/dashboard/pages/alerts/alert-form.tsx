import { COMPARED_WITH, CONDITIONS, isStateKind, RULE_GROUPS, STATE_KIND_NAMES, STATE_KINDS } from '#alerts';
import { capitalized } from '#lib/format';
import type { FormField } from '../../forms/field.tsx';
import { Fields } from '../../forms/fields.tsx';
import type { Submitted } from '../../forms/form.ts';
import { Card } from '../../shell/parts.tsx';
import { ViewFields } from '../../shell/report.tsx';
import { type View, viewQuery } from '../../shell/view.ts';
import { optionsOf } from '../../shell/words.ts';
import { groupLabel } from '../../tables/groups.tsx';
import { METRIC_NAMES, metricOptions } from '../../tables/metrics.ts';

export const PREVIEW_DAYS = ['30', '90'] as const;

/** The fields of the form, as its address keeps them. */
export const ALERT_FIELDS = [
  ...['metric', 'condition', 'compared_with', 'threshold', 'days'],
  ...['group_by', 'min_spend', 'min_installs'],
] as const;

const START: Readonly<Record<string, string>> = {
  ...{ metric: 'roas', condition: 'below', compared_with: 'weekdays', threshold: '50', days: '7' },
  ...{ group_by: '', min_spend: '', min_installs: '', preview: '30' },
};

const COMPARED: Readonly<Record<(typeof COMPARED_WITH)[number], string>> = {
  weekdays: 'Same weekdays of 4 weeks before',
  previous: 'As many days just before',
};

/** What of the form is for the chosen condition. The rest of the form is hidden by the stylesheet, and not meant. */
export function toAlert(values: Record<string, string>): Record<string, string> {
  const { metric = '', threshold = '', condition = '', compared_with = '', ...rest } = values;
  if (isStateKind(metric)) return { kind: metric, threshold };
  const isChange = condition !== 'below' && condition !== 'above';
  return { ...rest, kind: 'metric', metric, threshold, condition, ...(isChange ? { compared_with } : {}) };
}

/** The form of an alert, on a page of its own: it previews by GET and saves by POST, and works without scripts. */
export const AlertForm = ({
  view,
  path,
  label,
  values,
  faults,
}: Required<Submitted> & { view: View; path: string; label: string }) => {
  const currency = view.application.currency.toUpperCase();
  const chosen = { ...START, ...values };
  const { metric = '' } = chosen;
  const number = { type: 'number', step: 'any' };
  const judged: readonly FormField[] = [
    {
      label: 'What',
      name: 'metric',
      options: [
        ...metricOptions(METRIC_NAMES),
        ...STATE_KIND_NAMES.map((name) => [name, `${STATE_KINDS[name].label} …`] as const),
      ],
      ...(isStateKind(metric) ? { hint: STATE_KINDS[metric].hint } : {}),
    },
    {
      label: 'Condition',
      name: 'condition',
      options: Object.entries(CONDITIONS).map(([name, text]) => [name, capitalized(text)] as const),
    },
    {
      ...{ label: 'Threshold', name: 'threshold', required: true, ...number },
      hint: `Changes and ratios in %, amounts in ${currency}`,
    },
    { label: 'Compared with', name: 'compared_with', options: optionsOf(COMPARED_WITH, COMPARED) },
    { label: 'Over full days', name: 'days', type: 'number', min: 1, max: 30, required: true },
  ];
  const ofMetric: readonly FormField[] = [
    {
      label: 'For each',
      name: 'group_by',
      options: [['', 'Everything together'], ...RULE_GROUPS.map((name) => [name, groupLabel(name)] as const)],
      hint: 'Each is judged apart',
    },
    { label: `Spend at least (${currency})`, name: 'min_spend', min: 0, ...number },
    { label: 'Installs at least', name: 'min_installs', min: 0, ...number },
    {
      label: 'Preview',
      name: 'preview',
      options: PREVIEW_DAYS.map((days) => [days, `Last ${days} days`] as const),
    },
  ];
  return (
    <Card title="Alert when">
      <form method="get" action={path} class="alert-form">
        <ViewFields view={view} />
        <div class="row">
          <Fields fields={judged} values={chosen} faults={faults} />
        </div>
        <div class="row for-metric">
          <Fields fields={ofMetric} values={chosen} faults={faults} />
        </div>
        <p class="form-actions">
          <button type="submit" formmethod="post" formaction={path + viewQuery(view)}>
            {label}
          </button>
          <button type="submit" class="quiet">
            Show preview
          </button>
          <span class="muted">
            One message when it starts and one when it has recovered. Full days in {view.application.timezone}
            .
          </span>
        </p>
      </form>
    </Card>
  );
};
