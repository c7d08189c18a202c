import { integer } from 'drizzle-orm/sqlite-core';
import { columnsOf, MEASURES, type MoneyMeasure, type RollupTable } from '#catalogue';

const sum = (name: string) => integer(name).notNull().default(0);

/** `ad_revenue_high` as `adRevenueHigh`. */
type CamelCase<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name;
const camelCase = (name: string) => name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

type MeasureOf<Table extends RollupTable> = (typeof MEASURES)[Table][number];
/** See `columnsOf`. */
type ColumnOf<Name extends string> = Name extends MoneyMeasure ? Name | `${Name}_high` : Name;

/**
 * The columns of a rollup's measures under their names in code. A measure that is renamed in the catalogue is a compile error
 * wherever its column is used.
 */
export const measureColumns = <Table extends RollupTable>(table: Table) =>
  Object.fromEntries(MEASURES[table].flatMap(columnsOf).map((name) => [camelCase(name), sum(name)])) as {
    [Name in ColumnOf<MeasureOf<Table>> as CamelCase<Name>]: ReturnType<typeof sum>;
  };
