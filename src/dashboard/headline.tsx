import { Change, type ComparedReport } from './compared.tsx';
import { METRICS, type MetricName, showMetric } from './metrics.ts';
import { isAddedUp } from './part-of-day.ts';
import { Figure } from './parts.tsx';
import type { View } from './view.ts';

/** Those of the metrics that are compared only by whole days, as a list of words. */
export function comparedByDay(names: readonly MetricName[]): string {
  const words = names
    .filter((name) => !isAddedUp(name))
    .map((name) => {
      const { label } = METRICS[name];
      return label === label.toUpperCase() ? label : label.toLowerCase();
    });
  return `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}

/** The totals of a period, each with its change. */
export const Headline = ({
  view,
  compared,
  names,
}: {
  view: View;
  compared: ComparedReport;
  names: readonly MetricName[];
}) => (
  <dl class="figures">
    {names.map((name) => {
      const { label, hint } = METRICS[name];
      return (
        <Figure
          label={label}
          hint={hint}
          metric={name}
          value={showMetric(name, compared.report.totals[name], view.currency)}
        >
          <Change name={name} view={view} compared={compared} />
        </Figure>
      );
    })}
  </dl>
);
