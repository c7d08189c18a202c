import { money } from './format.ts';
import { METRICS, type MetricName, showMetric } from './metrics.ts';

type Amounts = readonly { currency: string; amount: number }[];
type Value = string | number | boolean | null | undefined | object;

/** Amounts without an exchange rate, as a list of words. */
export const amountsText = (amounts: Amounts): string =>
  amounts.map(({ currency, amount }) => `${money(amount, currency)} (${currency.toUpperCase()})`).join(', ');

const isRoas = (name: MetricName) => name === 'roas' || name === 'roas_blended';

/** The amounts without an exchange rate that a metric of a row or of the totals lacks. */
function lackedBy(name: MetricName, row: Readonly<Record<string, Value>>): Amounts {
  const { unconverted = [], roas_unconverted = [] } = row as Record<string, Amounts | undefined>;
  if (isRoas(name)) return [...unconverted, ...roas_unconverted];
  return METRICS[name].unit === 'money' ? unconverted : [];
}

/** Marks a figure that lacks amounts; nothing if it lacks none. */
export const Mark = ({ amounts }: { amounts: Amounts }) =>
  amounts.length === 0 ? null : (
    <abbr class="lacking" title={`Without ${amountsText(amounts)}: no exchange rate`}>
      *
    </abbr>
  );

type Shown = { name: MetricName; row: Readonly<Record<string, Value>> };

export const MetricMark = ({ name, row }: Shown) => <Mark amounts={lackedBy(name, row)} />;

/** A metric of a row, marked if it lacks amounts. */
export const MetricCell = ({ name, row, currency }: Shown & { currency: string }) => {
  const value = row[name];
  return (
    <>
      {showMetric(name, typeof value === 'number' ? value : null, currency)}
      <MetricMark name={name} row={row} />
    </>
  );
};
