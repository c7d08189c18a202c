import type { ColumnMetaData, SchemaElement } from 'hyparquet';
import { type ColumnType, DEVICE_DIMENSIONS, EVENT_COLUMNS, EVENT_DIMENSIONS, SEGMENT } from '#catalogue';
import { idFromBytes, idToBytes, isId } from '#lib/ids';
import { NANOS_LIMIT } from '#lib/money';
import { dayFromNumber, dayNumber, isDay } from '#lib/time';

// The columns of a raw event file: one wide schema for all kinds of events, the same in every file. `docs/data.md` describes them
// for people who query the files.

type Encoding = ColumnMetaData['encodings'][number];

/** The value of a cell; null if the event has no such field. */
export type ParquetCell = string | number | boolean | bigint | Uint8Array | null;

export type ParquetColumn = {
  name: string;
  /** The event field that the column holds, if it holds exactly one. */
  field?: string;
  element: Omit<SchemaElement, 'name'>;
  /** The cell for a field's value; undefined if the column cannot represent it exactly. */
  encode: (value: unknown) => ParquetCell | undefined;
  /** Whether `encode` returns a cell. */
  accepts: (value: unknown) => boolean;
  /** The cell for a value that is known to be accepted. */
  cellOf: (value: unknown) => ParquetCell;
  /** The field's value. */
  decode: (cell: ParquetCell) => unknown;
  /** Whether row groups record minimum and maximum, which readers use to skip data. */
  statistics: boolean;
  /** Whether nearly every row has its own value, so that looking for repeated values is not worthwhile. */
  distinct: boolean;
  /** The cell of rows without a value. */
  absent: ParquetCell;
  /** Overrides the writer's choice if another one is better. */
  encoding?: Encoding;
};

type Maker = (name: string, field?: string) => ParquetColumn;

/** What all columns of a type have in common. `accepts` tells the values that the column can represent exactly, `cellOf` makes the cell of one. */
type ColumnForm<Value> = Pick<ParquetColumn, 'element'> &
  Partial<Pick<ParquetColumn, 'decode' | 'statistics' | 'distinct' | 'absent' | 'encoding'>> & {
    accepts: (value: unknown) => value is Value;
    cellOf: (value: Value) => ParquetCell;
  };

const columnsOf =
  <Value>({ accepts, cellOf, element, ...form }: ColumnForm<Value>): Maker =>
  (name, field) => ({
    ...{ decode: (cell) => cell, statistics: false, distinct: false, absent: null, ...form },
    ...{ name, ...(field ? { field } : {}) },
    element: { repetition_type: 'OPTIONAL', ...element },
    encode: (value) => (accepts(value) ? cellOf(value) : undefined),
    accepts,
    cellOf: cellOf as ParquetColumn['cellOf'],
  });

const itself = <Value>(value: Value) => value;

/** One of our ids as a UUID: 16 bytes instead of 36 characters. The column implies the prefix. */
const idOf = (prefix: 'evt' | 'dev' | 'crt') =>
  columnsOf({
    element: { type: 'FIXED_LEN_BYTE_ARRAY', type_length: 16, logical_type: { type: 'UUID' } },
    accepts: (value): value is string => typeof value === 'string' && isId(prefix, value),
    cellOf: idToBytes,
    decode: (cell) => idFromBytes(prefix, cell as Uint8Array),
  });

const TEXT = {
  element: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  // A lone surrogate is not valid Unicode and would be read back as U+FFFD.
  accepts: (value: unknown): value is string => typeof value === 'string' && value.isWellFormed(),
  cellOf: itself<string>,
} as const;
const text = columnsOf(TEXT);

/** Stores a value as JSON text, which engines can query. */
const json = columnsOf({ ...TEXT, decode: (cell) => JSON.parse(String(cell)) });

const timestamp = columnsOf({
  element: {
    type: 'INT64',
    converted_type: 'TIMESTAMP_MILLIS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
  },
  accepts: (value): value is number => Number.isSafeInteger(value),
  // The writer converts them.
  cellOf: itself<number>,
  decode: Number,
  statistics: true,
  distinct: true,
  encoding: 'DELTA_BINARY_PACKED',
});

const day = columnsOf({
  element: { type: 'INT32', converted_type: 'DATE' },
  accepts: (value): value is string => typeof value === 'string' && isDay(value),
  cellOf: dayNumber,
  decode: (cell) => dayFromNumber(Number(cell)),
  statistics: true,
});

const integer = columnsOf({
  element: { type: 'INT32' },
  accepts: (value): value is number => Object.is(Number(value) | 0, value),
  cellOf: itself<number>,
});

const double = columnsOf({
  element: { type: 'DOUBLE' },
  accepts: (value) => typeof value === 'number',
  cellOf: itself<number>,
});

const BOOLEAN = {
  element: { type: 'BOOLEAN' },
  accepts: (value: unknown) => typeof value === 'boolean',
  cellOf: itself<boolean>,
} as const;
const boolean = columnsOf(BOOLEAN);

/** A field that is either true or absent. It is never null in the file, so that `WHERE NOT test` works as expected. */
const flag: Maker = (name, field = name) =>
  columnsOf({
    ...BOOLEAN,
    element: { type: 'BOOLEAN', repetition_type: 'REQUIRED' },
    decode: (cell) => (cell === true ? true : undefined),
    absent: false,
  })(name, field);

/**
 * Nanos as a decimal with nine places: exact in every engine, and in units of its currency. The file stores the unscaled integer, which
 * is what this project reads.
 */
const money = columnsOf({
  element: { type: 'INT64', converted_type: 'DECIMAL', precision: 18, scale: 9 },
  accepts: (value): value is number => Number.isInteger(value) && Math.abs(Number(value)) < NANOS_LIMIT,
  cellOf: BigInt,
  decode: Number,
  distinct: true,
});

const MAKERS: Record<ColumnType, Maker> = {
  text,
  integer,
  double,
  boolean,
  flag,
  money,
  json,
};

const ownColumns = EVENT_COLUMNS.map(({ name, type, field = name }) => MAKERS[type](name, field));
/** The fields of devices' dimensions, and the properties that events tell themselves. */
const [OF_DEVICES, OF_EVENTS] = [DEVICE_DIMENSIONS, EVENT_DIMENSIONS].map((names) =>
  names.map((name): string => SEGMENT[name].field),
) as [string[], string[]];
const isLookedFor = ({ name }: ParquetColumn) => name === 'event_name' || OF_DEVICES.includes(name);
const LOOKED_FOR = ownColumns.filter(isLookedFor);
const OWN_COLUMNS = ownColumns.filter((column) => !isLookedFor(column));

/**
 * Columns that filters use come first: neighbouring columns are read from R2 in one range.
 */
export const COLUMNS: readonly ParquetColumn[] = [
  { ...idOf('evt')('event_id', 'id'), statistics: true, distinct: true, encoding: 'PLAIN' },
  { ...idOf('dev')('device_id', 'device_id'), statistics: true },
  { ...text('type', 'type'), statistics: true },
  // Not `day`: engines refuse a column with the name of a partition's key.
  day('event_day', 'day'),
  ...LOOKED_FOR,
  idOf('crt')('creative_id', 'creative_id'),
  ...OF_EVENTS.map((name) => text(name)),
  timestamp('created_at', 'occurred_at'),
  timestamp('received_at', 'received_at'),
  text('application_id', 'application_id'),
  integer('shard'),
  day('acquired_day', 'acquired_day'),
  { ...text('client_event_id'), distinct: true, encoding: 'PLAIN' },
  flag('test'),
  text('outcome', 'outcome'),
  text('reason', 'reason'),
  idOf('evt')('duplicate_of', 'duplicate_of'),
  flag('token_expired'),
  flag('clock_ahead'),
  ...OWN_COLUMNS,
  integer('ad_requests'),
  text('placement'),
  text('device_name'),
  text('device_model'),
  text('os_system'),
  json('device'),
  json('warnings', 'warnings'),
  json('keys'),
  integer('key_day', 'key_day'),
  json('rest'),
];

/** The fields of `device` that have a column of their own. The others are in the `device` column as JSON. */
export const DEVICE_COLUMNS: readonly string[] = ['device_name', 'device_model', 'os_system', ...OF_EVENTS];

const indexes = new Map(COLUMNS.map(({ name }, index) => [name, index]));

/** The index of a column in `COLUMNS`. Throws for an unknown name. */
export function columnIndex(name: string): number {
  const index = indexes.get(name);
  if (index === undefined) throw new Error(`There is no column ${name}`);
  return index;
}

/** The schema in Parquet's form: the root, then its leaves. */
export const SCHEMA: SchemaElement[] = [
  { name: 'root', num_children: COLUMNS.length },
  ...COLUMNS.map(({ name, element }) => ({ name, ...element })),
];
