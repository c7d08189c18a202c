import {
  type AttributionKind,
  attributionOf,
  DEVICE_DIMENSIONS,
  deviceIdIn,
  isOfDevice,
  type LoggedEvent,
  SEGMENT,
  SEGMENT_DIMENSIONS,
  type SegmentDimension,
} from '#catalogue';
import { dayNumber } from '#lib/time';
import { compareBytes } from './bytes.ts';
import { COLUMNS, columnIndex, DEVICE_COLUMNS, type ParquetCell } from './columns.ts';
import { mayHoldDevice } from './device-filter.ts';
import type { FileEntry, StoredEvent } from './entry.ts';

/** Selects events; each field that is set narrows the selection. Days are in the application's time zone, both inclusive. */
export type EventFilter = {
  from?: string;
  to?: string;
  type?: LoggedEvent['type'];
  eventName?: string;
  deviceId?: string;
  /** Events of any of these creatives; an empty list matches nothing. */
  creativeIds?: readonly string[];
  /** Events with a creative, or without one. */
  attribution?: AttributionKind;
  /** By dimension, the wanted values: those of `Placed`, or what the event was sent with. Empty text matches events without a value. */
  segment?: Partial<Record<SegmentDimension, readonly string[] | undefined>>;
  eventId?: string;
};

/** Whether a file may contain matches, judging by its entry alone. */
export function mayHold(entry: FileEntry, filter: EventFilter): boolean {
  const { from, to, type, eventName, deviceId, segment = {}, eventId } = filter;
  return (
    entry.rows > 0 &&
    (!from || entry.lastDay >= from) &&
    (!to || entry.firstDay <= to) &&
    (!type || (entry.types[type] ?? 0) > 0) &&
    (!eventName || (entry.types.custom ?? 0) > 0) &&
    (!deviceId || mayHoldDevice(entry.deviceFilter, deviceId)) &&
    DEVICE_DIMENSIONS.every((name) => {
      const [wanted, known] = [segment[name], entry.values?.[name]];
      return !wanted || !known || known.some((value) => wanted.includes(value));
    }) &&
    (!eventId || (entry.firstEventId <= eventId && eventId <= entry.lastEventId))
  );
}

/** Whether a file may contain a device's events, or the event with an id. */
export const mayHoldId = (entry: FileEntry, id: string) =>
  mayHold(entry, id.startsWith('evt_') ? { eventId: id } : { deviceId: id });

/** What a device's event tells of its device must have been added by `withPlaces`. */
export function matches(event: StoredEvent, filter: EventFilter): boolean {
  const { from, to, type, eventName, deviceId, creativeIds, attribution, segment = {}, eventId } = filter;
  return (
    (!from || event.day >= from) &&
    (!to || event.day <= to) &&
    (!type || event.type === type) &&
    (!eventName || ('event_name' in event && event.event_name === eventName)) &&
    (!deviceId || deviceIdIn(event) === deviceId) &&
    (!creativeIds || (event.creative_id !== null && creativeIds.includes(event.creative_id))) &&
    (!attribution || attributionOf(event.creative_id ?? '') === attribution) &&
    SEGMENT_DIMENSIONS.every((name) => segment[name]?.includes(valueIn(event, name)) ?? true) &&
    (!eventId || event.id === eventId)
  );
}

function valueIn(event: StoredEvent, name: SegmentDimension): string {
  const { of, field } = SEGMENT[name];
  if (of === 'device') return event[field] ?? '';
  return (isOfDevice(event) && event.device?.[field]) || '';
}

/** What a column must hold. Values that it cannot represent exactly are in another column, as JSON. */
type ColumnCondition = {
  column: string;
  otherwise: 'rest' | 'device';
  holds: (cell: ParquetCell) => boolean;
};

/**
 * The same filter over the cells of a row, with the columns that it needs. It never drops a matching event, but may let others through:
 * unusual values are in `rest` and `device`, which it does not inspect.
 */
export function cellFilter(filter: EventFilter): {
  columns: string[];
  mayMatch: (cellOf: (column: string) => ParquetCell) => boolean;
} {
  const { from, to, type, eventName, deviceId, creativeIds, attribution, segment = {}, eventId } = filter;
  const conditions: ColumnCondition[] = [
    ...equals('event_id', eventId),
    ...equals('device_id', deviceId),
    ...equals('type', type),
    ...(from ? [condition('event_day', (cell) => Number(cell) >= dayNumber(from))] : []),
    ...(to ? [condition('event_day', (cell) => Number(cell) <= dayNumber(to))] : []),
    ...equals('event_name', eventName),
    ...(creativeIds ? isOneOf('creative_id', creativeIds) : []),
    ...(attribution === 'paid' ? [condition('creative_id', () => true)] : []),
    ...SEGMENT_DIMENSIONS.flatMap((name) => isOneOfKnown(SEGMENT[name].field, segment[name])),
  ];
  return {
    columns: [...new Set(conditions.flatMap(({ column, otherwise }) => [column, otherwise]))],
    mayMatch: (cellOf) =>
      conditions.every(({ column, otherwise, holds }) => {
        const cell = cellOf(column);
        return cell === null ? cellOf(otherwise) !== null : holds(cell);
      }),
  };
}

const condition = (column: string, holds: ColumnCondition['holds']): ColumnCondition => ({
  column,
  otherwise: DEVICE_COLUMNS.includes(column) ? 'device' : 'rest',
  holds,
});

const equals = (column: string, value: string | undefined): ColumnCondition[] =>
  value === undefined ? [] : isOneOf(column, [value]);

/** Empty text matches events without a value, whose cell is null, so the cells cannot rule anything out. */
const isOneOfKnown = (column: string, values: readonly string[] | undefined): ColumnCondition[] =>
  values === undefined || values.includes('') ? [] : isOneOf(column, values);

function isOneOf(column: string, values: readonly string[]): ColumnCondition[] {
  const wanted = values.map((value) => COLUMNS[columnIndex(column)]?.encode(value));
  const isEqual = (cell: ParquetCell, one: unknown) =>
    cell instanceof Uint8Array && one instanceof Uint8Array ? compareBytes(cell, one) === 0 : cell === one;
  return [condition(column, (cell) => wanted.some((one) => isEqual(cell, one)))];
}
