import { Figure } from '../shell/parts.tsx';
import type { View } from '../shell/view.ts';
import { Change, type ComparedReport, isCompared } from './compared.tsx';
import { MetricMark } from './lacking.tsx';
import { METRICS, type MetricName, showMetric } from './metrics.ts';
import { isHourly } from './part-of-day.ts';

/** Those of the metrics that have no hours, as a list of words. */
export function withoutHours(names: readonly MetricName[]): string {
  const words = names
    .filter((name) => !isHourly(name))
    .map((name) => {
      const { label } = METRICS[name];
      return label === label.toUpperCase() ? label : label.toLowerCase();
    });
  return `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}

/** What a metric has with the part of the view that is not compared; null if everything is compared. */
function soFar(name: MetricName, view: View, { periods, report, shown }: ComparedReport): string | null {
  if (!periods || report === shown) return null;
  const text = showMetric(name, report.totals[name], view.currency);
  return periods.untilHour === null ? `${text} with today so far` : `${text} so far`;
}

/** The totals of what is compared, each with its change and, if today is left out, with what there is with it. */
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
      const hasOwn = isCompared(compared, name);
      const note = soFar(name, view, compared);
      const { totals } = hasOwn ? compared.shown : compared.report;
      return (
        <Figure
          label={label}
          hint={hint}
          metric={name}
          value={showMetric(name, totals[name], view.currency)}
          mark={<MetricMark name={name} row={totals} />}
        >
          <Change name={name} view={view} compared={compared} />
          {note && <span class="muted">{hasOwn ? note : 'so far'}</span>}
        </Figure>
      );
    })}
  </dl>
);
