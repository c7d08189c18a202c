import type { Child } from 'hono/jsx';
import { NOTHING } from '#lib/format';
import { ChangePill } from './compared.tsx';
import { heatOf } from './heat.ts';
import { type Earlier, MetricCell } from './lacking.tsx';
import {
  isProfit,
  METRIC_DEFINITIONS,
  type MetricName,
  metricColumn,
  nothingOf,
  placesOf,
  type Shown,
} from './metrics.ts';
import type { Column } from './table.tsx';

type RowFigures = Readonly<Record<string, string | number | boolean | null | undefined | object>>;

/** Fewer rows than this are compared without shades. */
const MIN_HEAT_ROWS = 3;

/**
 * A metric's column: its unit in the head, the same decimals in all rows, a shade behind ratios, and the change within the cell. `figuresOf`
 * returns a row's figures, undefined for a row that has none; `earlierOf` what they were before, for a column that is compared.
 */
export function figureColumn<Row>(
  name: MetricName,
  rows: readonly Row[],
  view: Shown,
  figuresOf: (row: Row) => RowFigures | undefined,
  earlierOf?: (row: Row) => Earlier,
): Column<Row> {
  const { currency } = view;
  const values = rows.map((row) => figuresOf(row)?.[name]);
  const places = placesOf(name, values, currency);
  const numbers = values.filter((value) => typeof value === 'number');
  const hasHeat = METRIC_DEFINITIONS[name].unit === 'percent' && numbers.length >= MIN_HEAT_ROWS;
  const shadeOf = hasHeat ? heatOf(numbers) : () => '';
  return {
    ...metricColumn(name, view),
    ...(isProfit(name)
      ? {
          classOf: (row: Row) => {
            const value = Number(figuresOf(row)?.[name]);
            return value > 0 ? 'gain' : value < 0 ? 'loss' : '';
          },
        }
      : {}),
    cell: (row) => {
      const figures = figuresOf(row);
      const value = figures?.[name];
      const shade = shadeOf(typeof value === 'number' ? value : null);
      const shown = figures ? (
        <MetricCell name={name} row={figures} currency={currency} places={places} />
      ) : (
        NOTHING
      );
      return (
        <>
          {shade === '' ? shown : <span class={`shade ${shade}`}>{shown}</span>}
          {earlierOf && (
            <ChangePill
              name={name}
              now={figures ? value : nothingOf(name)}
              earlier={earlierOf(row)}
              currency={currency}
            />
          )}
        </>
      );
    },
  };
}

/** The cells of a table's total row below metrics' columns, with the decimals of these. `groups` are the columns before them. */
export const totalCells = (
  groups: number,
  names: readonly MetricName[],
  rows: readonly RowFigures[],
  totals: RowFigures,
  currency: string,
  compared?: { name: MetricName; earlier: Earlier },
): Child[] => [
  'Total',
  ...new Array<Child>(Math.max(0, groups - 1)).fill(''),
  ...names.map((name) => {
    const values = rows.map((row) => row[name]);
    return (
      <>
        <MetricCell name={name} row={totals} currency={currency} places={placesOf(name, values, currency)} />
        {name === compared?.name && (
          <ChangePill name={name} now={totals[name]} earlier={compared.earlier} currency={currency} />
        )}
      </>
    );
  }),
];
