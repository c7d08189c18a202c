import { isOfDevice, type LoggedEvent } from '#catalogue';
import { dayNumber } from '#lib/time';
import { compareBytes } from './bytes.ts';
import { type Cell, COLUMNS, columnIndex, DEVICE_COLUMNS } from './columns.ts';
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
  attribution?: 'paid' | 'organic';
  /** Events sent by any of these app versions. Empty text matches events without one. */
  appVersions?: readonly string[];
  /** See `Placed`. Empty text matches unknown values. */
  countries?: readonly string[];
  oses?: readonly string[];
  eventId?: string;
};

/** Whether a file may contain matches, judging by its entry alone. */
export function mayHold(entry: FileEntry, filter: EventFilter): boolean {
  const { from, to, type, eventName, deviceId, countries, oses, eventId } = filter;
  return (
    entry.rows > 0 &&
    (!from || entry.lastDay >= from) &&
    (!to || entry.firstDay <= to) &&
    (!type || (entry.types[type] ?? 0) > 0) &&
    (!eventName || (entry.types.custom ?? 0) > 0) &&
    (!deviceId || mayHoldDevice(entry.deviceFilter, deviceId)) &&
    (!countries || entry.countries.some((country) => countries.includes(country))) &&
    (!oses || entry.oses.some((os) => oses.includes(os))) &&
    (!eventId || (entry.firstEventId <= eventId && eventId <= entry.lastEventId))
  );
}

/** Whether a file may contain a device's events, or the event with an id. */
export const mayHoldId = (entry: FileEntry, id: string) =>
  mayHold(entry, id.startsWith('evt_') ? { eventId: id } : { deviceId: id });

/** The country and OS of a device's event must have been added by `withPlaces`. */
export function matches(event: StoredEvent, filter: EventFilter): boolean {
  const { from, to, type, eventName, deviceId, creativeIds, attribution, appVersions, eventId } = filter;
  const { countries, oses } = filter;
  const { country = '', os_family: os = '' } = event;
  return (
    (!from || event.day >= from) &&
    (!to || event.day <= to) &&
    (!type || event.type === type) &&
    (!eventName || ('event_name' in event && event.event_name === eventName)) &&
    (!deviceId || (isOfDevice(event) && event.device_id === deviceId)) &&
    (!creativeIds || (event.creative_id !== null && creativeIds.includes(event.creative_id))) &&
    (!attribution || (event.creative_id !== null) === (attribution === 'paid')) &&
    (!appVersions || appVersions.includes(appVersionOf(event))) &&
    (!countries || countries.includes(country)) &&
    (!oses || oses.includes(os)) &&
    (!eventId || event.id === eventId)
  );
}

const appVersionOf = (event: StoredEvent): string => (isOfDevice(event) && event.device?.app_version) || '';

/** What a column must hold. Values that it cannot represent exactly are in another column, as JSON. */
type Condition = { column: string; otherwise: 'rest' | 'device'; holds: (cell: Cell) => boolean };

/**
 * The same filter over the cells of a row, with the columns that it needs. It never drops a matching event, but may let others through:
 * unusual values are in `rest` and `device`, which it does not inspect.
 */
export function cellFilter(filter: EventFilter): {
  columns: string[];
  mayMatch: (cellOf: (column: string) => Cell) => boolean;
} {
  const { from, to, type, eventName, deviceId, creativeIds, attribution, eventId } = filter;
  const { appVersions, countries, oses } = filter;
  const conditions: Condition[] = [
    ...equals('event_id', eventId),
    ...equals('device_id', deviceId),
    ...equals('type', type),
    ...(from ? [condition('day', (cell) => Number(cell) >= dayNumber(from))] : []),
    ...(to ? [condition('day', (cell) => Number(cell) <= dayNumber(to))] : []),
    ...equals('event_name', eventName),
    ...(creativeIds ? isOneOf('creative_id', creativeIds) : []),
    ...(attribution === 'paid' ? [condition('creative_id', () => true)] : []),
    ...isOneOfKnown('app_version', appVersions),
    ...isOneOfKnown('country', countries),
    ...isOneOfKnown('os_family', oses),
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

const condition = (column: string, holds: Condition['holds']): Condition => ({
  column,
  otherwise: (DEVICE_COLUMNS as readonly string[]).includes(column) ? 'device' : 'rest',
  holds,
});

const equals = (column: string, value: string | undefined): Condition[] =>
  value === undefined ? [] : isOneOf(column, [value]);

/** Empty text matches events without a value, whose cell is null, so the cells cannot rule anything out. */
const isOneOfKnown = (column: string, values: readonly string[] | undefined): Condition[] =>
  values === undefined || values.includes('') ? [] : isOneOf(column, values);

function isOneOf(column: string, values: readonly string[]): Condition[] {
  const wanted = values.map((value) => COLUMNS[columnIndex(column)]?.encode(value));
  const isEqual = (cell: Cell, one: unknown) =>
    cell instanceof Uint8Array && one instanceof Uint8Array ? compareBytes(cell, one) === 0 : cell === one;
  return [condition(column, (cell) => wanted.some((one) => isEqual(cell, one)))];
}
