import { basisOf, basisText, changeOf } from '#catalogue';
import { Info } from '../shell/info.tsx';
import { sizeOf } from '../shell/parts.tsx';
import type { View } from '../shell/view.ts';
import {
  type ComparedReport,
  comparedTotal,
  isCompared,
  isGrowing,
  overText,
  Pill,
} from '../tables/compared.tsx';
import { EarlierCell, earlierOf, MetricMark } from '../tables/lacking.tsx';
import { METRIC_DEFINITIONS, type MetricName, showMetric } from '../tables/metrics.ts';
import { clock, isHourly } from '../tables/part-of-day.ts';
import { type AxisUnit, placesIn, valuesAt } from '../tables/places.ts';
import { sparkOf } from './geometry.ts';

/** Those of the metrics that have no hours, as a list of words. */
export function withoutHours(names: readonly MetricName[]): string {
  const words = names
    .filter((name) => !isHourly(name))
    .map((name) => {
      const { label } = METRIC_DEFINITIONS[name];
      // Abbreviations stay as they are.
      return /^[A-Z]{2}/.test(label) ? label : label.toLowerCase();
    });
  return `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}

/** What a metric has of the compared part of the view; null if all of it is compared. */
function ofCompared(name: MetricName, view: View, { periods, report, shown }: ComparedReport): string | null {
  if (!periods || report === shown) return null;
  const text = showMetric(name, shown.totals[name], view.currency);
  return periods.untilHour === null ? `${text} without today` : `${text} until ${clock(periods.untilHour)}`;
}

type HeadlineMetric = { name: MetricName; view: View; unit: AxisUnit; compared: ComparedReport };

/** A metric's curve over the complete places of a period. */
const Spark = ({ name, view, unit, compared }: HeadlineMetric) => {
  const places = placesIn(view, unit).filter(({ partial, isAhead }) => !partial && !isAhead);
  const points = sparkOf(valuesAt(places, unit, compared.report.data, name));
  return (
    <svg class="spark" viewBox="0 0 100 24" preserveAspectRatio="none" aria-hidden="true">
      {points && <polyline points={points} />}
    </svg>
  );
};

const Card = ({ href, isChosen, ...shown }: HeadlineMetric & { href: string; isChosen: boolean }) => {
  const { name, view, compared } = shown;
  const { label, hint } = METRIC_DEFINITIONS[name];
  const basis = basisText(name, basisOf(view.filters.attribution));
  const hasOwn = isCompared(compared, name);
  const { totals } = compared.report;
  const value = showMetric(name, totals[name], view.currency);
  const { periods } = compared;
  const earlier = hasOwn && periods ? earlierOf(name, compared.before?.totals) : null;
  const growing = periods !== null && isGrowing(name, periods, view);
  const by = earlier && !growing ? changeOf(name, comparedTotal(compared, name), earlier.value) : null;
  const isKnown = earlier !== null && earlier.value !== null;
  const note = hasOwn ? ofCompared(name, view, compared) : null;
  const over = periods && overText(name, periods, view);
  return (
    <div class={isChosen ? 'figure chosen' : 'figure'}>
      <dt>
        <a href={href} data-keep-scroll {...(isChosen ? { 'aria-current': 'true' as const } : {})}>
          <span {...(basis === '' ? {} : { 'data-unit': basis })}>{label}</span>
        </a>
      </dt>
      <dd>
        <strong {...sizeOf(value)} data-metric={name}>
          {value}
          <MetricMark name={name} row={totals} />
        </strong>
        {view.from <= view.today && view.to >= view.today && <small class="so-far">so far</small>}
        {by !== null ? (
          <Pill name={name} change={by} currency={view.currency} />
        ) : growing && isKnown ? (
          <span class="pill">still growing</span>
        ) : isKnown ? (
          <span class="pill">
            <EarlierCell name={name} earlier={earlier} currency={view.currency} /> before
          </span>
        ) : (
          <span class="pill none" />
        )}
        <Spark {...shown} />
        {(hint || note || isKnown) && (
          <Info about={label}>
            {isKnown && (by !== null || growing) && (
              <p>
                <EarlierCell name={name} earlier={earlier} currency={view.currency} /> before
              </p>
            )}
            {note && <p>{note}</p>}
            {over && <p class="definition">{over}</p>}
            {hint && <p class="definition">{hint}</p>}
          </Info>
        )}
      </dd>
    </div>
  );
};

/**
 * The totals of what is compared, each with its change and its curve. `link` makes the address of the page with another chosen metric: the cards
 * choose what the chart below them shows.
 */
export const Headline = ({
  names,
  chosen,
  link,
  ...shown
}: Omit<HeadlineMetric, 'name'> & {
  names: readonly MetricName[];
  chosen: MetricName;
  link: (name: MetricName) => string;
}) => (
  <dl class="kpis">
    {names.map((name) => (
      <Card {...shown} name={name} href={link(name)} isChosen={name === chosen} />
    ))}
  </dl>
);
