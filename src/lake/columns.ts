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

const OPTIONAL = { repetition_type: 'OPTIONAL' } as const;
const defaults = { statistics: false, distinct: false, absent: null };

/** One of our ids as a UUID: 16 bytes instead of 36 characters. The column implies the prefix. */
function id(name: string, field: string, prefix: 'evt' | 'dev' | 'crt'): ParquetColumn {
  const accepts = (value: unknown): value is string => typeof value === 'string' && isId(prefix, value);
  return {
    ...defaults,
    name,
    field,
    element: { type: 'FIXED_LEN_BYTE_ARRAY', type_length: 16, logical_type: { type: 'UUID' }, ...OPTIONAL },
    encode: (value) => (accepts(value) ? idToBytes(value) : undefined),
    accepts,
    decode: (cell) => idFromBytes(prefix, cell as Uint8Array),
  };
}

const isWellFormed = (value: unknown): value is string => typeof value === 'string' && value.isWellFormed();

/** A lone surrogate is not valid Unicode and would be read back as U+FFFD. */
const text = (name: string, field?: string): ParquetColumn => ({
  ...defaults,
  name,
  ...(field ? { field } : {}),
  element: { type: 'BYTE_ARRAY', converted_type: 'UTF8', ...OPTIONAL },
  encode: (value) => (isWellFormed(value) ? value : undefined),
  accepts: isWellFormed,
  decode: (cell) => cell,
});

/** Stores a value as JSON text, which engines can query. */
const json = (name: string, field?: string): ParquetColumn => ({
  ...text(name, field),
  decode: (cell) => JSON.parse(String(cell)),
});

const timestamp = (name: string, field: string): ParquetColumn => ({
  ...defaults,
  name,
  field,
  element: {
    type: 'INT64',
    converted_type: 'TIMESTAMP_MILLIS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
    ...OPTIONAL,
  },
  encode: (value) => (Number.isSafeInteger(value) ? BigInt(value as number) : undefined),
  accepts: Number.isSafeInteger,
  decode: (cell) => Number(cell),
  statistics: true,
  distinct: true,
  encoding: 'DELTA_BINARY_PACKED',
});

const isDayText = (value: unknown): value is string => typeof value === 'string' && isDay(value);

const day = (name: string, field: string): ParquetColumn => ({
  ...defaults,
  name,
  field,
  element: { type: 'INT32', converted_type: 'DATE', ...OPTIONAL },
  encode: (value) => (isDayText(value) ? dayNumber(value) : undefined),
  accepts: isDayText,
  decode: (cell) => dayFromNumber(Number(cell)),
  statistics: true,
});

const isInt32 = (value: unknown): value is number => Object.is(Number(value) | 0, value);

const integer = (name: string, field?: string): ParquetColumn => ({
  ...defaults,
  name,
  ...(field ? { field } : {}),
  element: { type: 'INT32', ...OPTIONAL },
  encode: (value) => (isInt32(value) ? value : undefined),
  accepts: isInt32,
  decode: (cell) => cell,
});

const double = (name: string, field: string): ParquetColumn => ({
  ...defaults,
  name,
  field,
  element: { type: 'DOUBLE', ...OPTIONAL },
  encode: (value) => (typeof value === 'number' ? value : undefined),
  accepts: (value) => typeof value === 'number',
  decode: (cell) => cell,
});

const boolean = (name: string, field: string): ParquetColumn => ({
  ...defaults,
  name,
  field,
  element: { type: 'BOOLEAN', ...OPTIONAL },
  encode: (value) => (typeof value === 'boolean' ? value : undefined),
  accepts: (value) => typeof value === 'boolean',
  decode: (cell) => cell,
});

/** A field that is either true or absent. It is never null in the file, so that `WHERE NOT test` works as expected. */
const flag = (name: string, field = name): ParquetColumn => ({
  ...boolean(name, field),
  element: { type: 'BOOLEAN', repetition_type: 'REQUIRED' },
  decode: (cell) => (cell === true ? true : undefined),
  absent: false,
});

const isNanos = (value: unknown): value is number =>
  Number.isInteger(value) && Math.abs(Number(value)) < NANOS_LIMIT;

/**
 * Nanos as a decimal with nine places: exact in every engine, and in units of its currency. The file stores the unscaled integer, which
 * is what this project reads.
 */
const money = (name: string, field: string): ParquetColumn => ({
  ...defaults,
  name,
  field,
  element: { type: 'INT64', converted_type: 'DECIMAL', precision: 18, scale: 9, ...OPTIONAL },
  encode: (value) => (isNanos(value) ? BigInt(value) : undefined),
  accepts: isNanos,
  decode: (cell) => Number(cell),
  distinct: true,
});

const MAKERS: Record<ColumnType, (name: string, field: string) => ParquetColumn> = {
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
  { ...id('event_id', 'id', 'evt'), statistics: true, distinct: true },
  { ...id('device_id', 'device_id', 'dev'), statistics: true },
  { ...text('type', 'type'), statistics: true },
  // Not `day`: engines refuse a column with the name of a partition's key.
  day('event_day', 'day'),
  ...LOOKED_FOR,
  id('creative_id', 'creative_id', 'crt'),
  ...OF_EVENTS.map((name) => text(name)),
  timestamp('created_at', 'occurred_at'),
  timestamp('received_at', 'received_at'),
  text('application_id', 'application_id'),
  integer('shard'),
  day('acquired_day', 'acquired_day'),
  { ...text('client_event_id'), distinct: true },
  flag('test'),
  text('outcome', 'outcome'),
  text('reason', 'reason'),
  id('duplicate_of', 'duplicate_of', 'evt'),
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
