import { DIMENSIONS, type DimensionName, isCohortMetric, OF_ACQUIRED, OF_COSTS } from '#catalogue';
import { money } from '#lib/format';
import { LACKING } from '#reports';
import { type CellValue, METRIC_DEFINITIONS, type MetricName, numberOf, showMetric } from './metrics.ts';

export type UnratedAmounts = readonly { currency: string; amount: number }[];

/** Amounts without an exchange rate, as a list of words. */
export const amountsText = (amounts: UnratedAmounts): string =>
  amounts.map(({ currency, amount }) => `${money(amount, currency)} (${currency.toUpperCase()})`).join(', ');

type Lacking = Record<'unconverted' | 'roas_unconverted' | 'cohort_unconverted', UnratedAmounts | undefined>;

/** The amounts without an exchange rate that a metric of a row or of the totals lacks. */
function lackedBy(name: MetricName, row: Readonly<Record<string, CellValue | object>>): UnratedAmounts {
  const { unconverted = [], roas_unconverted = [], cohort_unconverted = [] } = row as Lacking;
  if (isCohortMetric(name)) return METRIC_DEFINITIONS[name].figure === 'retention' ? [] : cohort_unconverted;
  if (OF_ACQUIRED.includes(name)) return [...unconverted, ...roas_unconverted];
  return METRIC_DEFINITIONS[name].unit === 'money' ? unconverted : [];
}

const noRate = (amounts: UnratedAmounts) => `${amountsText(amounts)}: no exchange rate`;

/** What a figure of a chart lacks, for its readout; null if it lacks nothing. */
export const lackedText = (amounts: UnratedAmounts): string | null =>
  amounts.length === 0 ? null : `without ${noRate(amounts)}`;

/** The columns of a file that say what a row lacks. */
export const lackingIn = (row: Readonly<Record<string, CellValue | object>> = {}) =>
  Object.fromEntries(LACKING.flatMap((name) => (name in row ? [[name, row[name]]] : [])));

/** What the figures of a chart lack, by the row's place; null where they lack nothing. */
export function lackedAt(
  places: readonly { key: string }[],
  unit: string,
  rows: readonly Readonly<Record<string, CellValue | object>>[],
  name: MetricName,
): (string | null)[] {
  const byKey = new Map(rows.map((row) => [String(row[unit]), lackedBy(name, row)]));
  return places.map(({ key }) => lackedText(byKey.get(key) ?? []));
}

/** Marks a figure that lacks amounts; nothing if it lacks none. */
export const Mark = ({ amounts }: { amounts: UnratedAmounts }) =>
  amounts.length === 0 ? null : (
    <abbr class="lacking" title={`Without ${noRate(amounts)}`}>
      *
    </abbr>
  );

type MetricOfRow = { name: MetricName; row: Readonly<Record<string, CellValue | object>> };

/** Why a metric of a row is unknown, or known in part: costs that do not state everything. Empty if it is known. */
function unstatedText(name: MetricName, row: MetricOfRow['row']): string {
  const { unstated } = row;
  if (!Array.isArray(unstated) || !OF_COSTS.includes(name)) return '';
  const words = new Intl.ListFormat('en-GB').format(
    unstated.map((one) => DIMENSIONS[one as DimensionName].label.toLowerCase()),
  );
  const why = `some costs do not state the ${words}`;
  return row[name] === null ? `Unknown: ${why}` : `At least: ${why}`;
}

/** Marks a metric of a row or of the totals that is not known, or not in full. */
export const MetricMark = ({ name, row }: MetricOfRow) => {
  const unstated = unstatedText(name, row);
  return unstated === '' ? (
    <Mark amounts={lackedBy(name, row)} />
  ) : (
    <abbr class="lacking" title={unstated}>
      ?
    </abbr>
  );
};

/** A metric of a row, marked if it lacks amounts. `places` are the decimals of its column. */
export const MetricCell = ({
  name,
  row,
  currency,
  places,
}: MetricOfRow & { currency: string; places?: number }) => {
  const value = row[name];
  const text = showMetric(name, numberOf(value), currency, places);
  const { day } = METRIC_DEFINITIONS[name];
  const isYoung =
    day !== undefined && Array.isArray(row.incomplete_days) && row.incomplete_days.includes(day);
  return (
    <>
      {isYoung ? (
        <span class="young" title={youngText(day, value)}>
          {text}
        </span>
      ) : (
        text
      )}
      <MetricMark name={name} row={row} />
    </>
  );
};

const youngText = (day: number, value: CellValue | object) =>
  typeof value === 'number'
    ? `Of the devices whose day ${day} is over; for some it is not`
    : `Day ${day} is not over for any of these devices`;

/** A metric of an earlier period, and what it lacks. */
export type Earlier = {
  value: number | null;
  lacks: UnratedAmounts;
  /** What it is compared with, if that is not the figure beside it: of the days that are over. */
  now?: number | null;
};

/** An earlier figure that is not known. */
export const UNKNOWN: Earlier = { value: null, lacks: [] };

export const earlierOf = (
  name: MetricName,
  row: Readonly<Record<string, CellValue | object>> | undefined,
): Earlier => ({ value: numberOf(row?.[name]), lacks: row ? lackedBy(name, row) : [] });

export const EarlierCell = ({
  name,
  earlier: { value, lacks },
  currency,
}: {
  name: MetricName;
  earlier: Earlier;
  currency: string;
}) => (
  <>
    {showMetric(name, value, currency)}
    <Mark amounts={lacks} />
  </>
);
