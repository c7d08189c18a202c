import { integer, primaryKey, type SQLiteColumn, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import {
  columnsOf,
  keysTogether,
  MEASURES,
  type MoneyMeasure,
  type ROLLUP_KEYS,
  type RollupTable,
} from '#catalogue';
import { type CamelCase, camelCase } from '#lib/encoding/camel-case';

const sum = (name: string) => integer(name).notNull().default(0);
const keyText = (name: string) => text(name).notNull();
/** Days since acquisition. */
const age = (name: string) => integer(name).notNull();

type MeasureOf<Table extends RollupTable> = (typeof MEASURES)[Table][number];
/** See `columnsOf`. */
type ColumnOf<Name extends string> = Name extends MoneyMeasure ? Name | `${Name}_high` : Name;
/** See `keysTogether`. */
type TableKeyColumn<Table extends RollupTable> =
  | Exclude<(typeof ROLLUP_KEYS)[Table][number], 'creative_id'>
  | 'attribution';

/** The columns of a rollup under their names in code. One that is renamed in the catalogue is a compile error wherever it is used. */
type RollupColumns<Table extends RollupTable> = {
  [Name in TableKeyColumn<Table> as CamelCase<Name>]: ReturnType<
    Name extends 'age' ? typeof age : typeof keyText
  >;
} & {
  [Name in ColumnOf<MeasureOf<Table>> as CamelCase<Name>]: ReturnType<typeof sum>;
};

/**
 * A rollup's table: the sums of its measures by its key. `attribution` is `paid` for all creatives together, or `organic`. The sums of each
 * creative are in `cube_parts`, because a table with them would be most of the database, and opening parts is faster than reading its rows.
 * `currency` is empty for sums without one instead of null, because a primary key with nulls would not be unique.
 */
export function rollupTable<Table extends RollupTable>(name: Table) {
  const keys = keysTogether(name);
  const columns = Object.fromEntries([
    ...keys.map((key) => [camelCase(key), key === 'age' ? age(key) : keyText(key)]),
    ...MEASURES[name].flatMap(columnsOf).map((measure) => [camelCase(measure), sum(measure)]),
  ]) as RollupColumns<Table>;
  return sqliteTable(name, columns, (table) => {
    const [first, ...others] = keys.map((key) => (table as Record<string, SQLiteColumn>)[camelCase(key)]);
    return [primaryKey({ columns: [first, ...others] as [SQLiteColumn, ...SQLiteColumn[]] })];
  });
}
