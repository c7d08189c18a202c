import { COMPARED_WITH, CONDITIONS, isStateKind, RULE_GROUPS, STATE_KIND_NAMES, STATE_KINDS } from '#alerts';
import { Card, Field } from '../shell/parts.tsx';
import { ViewFields } from '../shell/report.tsx';
import { type View, viewQuery } from '../shell/view.ts';
import { groupLabel } from '../tables/groups.tsx';
import { METRIC_DEFINITIONS, METRIC_NAMES } from '../tables/metrics.ts';
import type { Submitted } from './form.ts';

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

const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

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
  const of = (name: string) => values[name] ?? START[name] ?? '';
  const field = (name: string) => ({ name, value: of(name), faults });
  const currency = view.application.currency.toUpperCase();
  const kind = of('metric');
  return (
    <Card title="Alert when">
      <form method="get" action={path} class="alert-form">
        <ViewFields view={view} />
        <div class="row">
          <Field
            {...field('metric')}
            label="What"
            options={[
              ...METRIC_NAMES.map((name) => [name, METRIC_DEFINITIONS[name].label] as const),
              ...STATE_KIND_NAMES.map((name) => [name, `${STATE_KINDS[name].label} …`] as const),
            ]}
            {...(isStateKind(kind) ? { hint: STATE_KINDS[kind].hint } : {})}
          />
          <Field
            {...field('condition')}
            label="Condition"
            options={Object.entries(CONDITIONS).map(([name, text]) => [name, sentence(text)] as const)}
          />
          <Field
            {...field('threshold')}
            label="Threshold"
            type="number"
            step="any"
            hint={`Changes and ratios in %, amounts in ${currency}`}
            required
          />
          <Field
            {...field('compared_with')}
            label="Compared with"
            options={COMPARED_WITH.map((name) => [name, COMPARED[name]] as const)}
          />
          <Field {...field('days')} label="Over full days" type="number" min={1} max={30} required />
        </div>
        <div class="row for-metric">
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
            label={`Spend at least (${currency})`}
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
