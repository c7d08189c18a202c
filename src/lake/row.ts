import { isOfDevice, keepsKeys, sentKeyOf } from '#catalogue';
import { COLUMNS, columnIndex, DEVICE_COLUMNS, type ParquetCell } from './columns.ts';
import type { StoredEvent } from './entry.ts';

const byField = new Map<string, number>();
for (const [index, { field }] of COLUMNS.entries()) if (field) byField.set(field, index);

const AT = {
  shard: columnIndex('shard'),
  adRequests: columnIndex('ad_requests'),
  placement: columnIndex('placement'),
  source: columnIndex('source'),
  device: columnIndex('device'),
  clientEventId: columnIndex('client_event_id'),
  keys: columnIndex('keys'),
  rest: columnIndex('rest'),
};
const DEVICE_INDEXES = new Map<string, number>(DEVICE_COLUMNS.map((name) => [name, columnIndex(name)]));

// Fields that only counting needs and that would take up half of a file: the token an event was sent with, and its idempotency keys except for
// the id that its client gave it. Some kinds keep their keys, which match repeats whenever they come. The shard is a property of the file.
// An event that was parked may be counted later, and keeps all of them.
const LEFT_OUT_OF_PARKED = new Set(['shard', 'client_event_id']);
const LEFT_OUT = new Set([...LEFT_OUT_OF_PARKED, 'token_id']);
const LEFT_OUT_WITH_KEYS = new Set([...LEFT_OUT, 'keys', 'key_day']);

/** Stores a field's value in its column. Returns false if the column cannot represent it exactly. */
type PutValue = (column: number, value: unknown) => boolean;
type GetCell = (column: number) => ParquetCell;

const decode = (index: number, cell: ParquetCell) => COLUMNS[index]?.decode(cell);

/**
 * Stores an event in the cells of a row; the other cells mark absence. What no column can represent exactly (an id of another format, a day
 * that does not exist, text with a lone surrogate, a field without a column) goes into `rest` as JSON, so that `toEvent` returns every
 * event unchanged, except for the fields that are left out.
 */
export function putEvent(event: StoredEvent, shard: number, put: PutValue): void {
  const rest: [string, unknown][] = [];
  const leftOut =
    event.outcome === 'parked' ? LEFT_OUT_OF_PARKED : keepsKeys(event) ? LEFT_OUT : LEFT_OUT_WITH_KEYS;
  const fields = event as Readonly<Record<string, unknown>>;
  // `for … in` takes half of the time of `Object.entries`, which creates a list per field.
  for (const field in fields) {
    const value = fields[field];
    if (value === null || value === undefined || leftOut.has(field)) continue;
    if (!putField(event, field, value, put)) rest.push([field, value]);
  }
  const clientEventId = clientEventIdOf(event);
  if (clientEventId !== undefined && !put(AT.clientEventId, clientEventId)) {
    rest.push(['client_event_id', clientEventId]);
  }
  put(AT.shard, shard);
  if (rest.length > 0) put(AT.rest, JSON.stringify(Object.fromEntries(rest)));
}

function putField(event: StoredEvent, field: string, value: unknown, put: PutValue): boolean {
  const index = byField.get(field);
  if (index !== undefined) return put(index, typeof value === 'object' ? JSON.stringify(value) : value);
  if (field === 'device' && 'device' in event) return putDevice(event.device ?? {}, put);
  if (field === 'keys' && 'keys' in event) return putKeys(event.keys ?? [], referencesOf(event), put);
  if (field === 'ad_requests' && 'ad_requests' in event && event.ad_requests) {
    return putAdRequests(event.ad_requests, put);
  }
  return false;
}

const clientEventIdOf = (event: StoredEvent) =>
  event.client_event_id ?? (isOfDevice(event) ? sentKeyOf(event, 'event_id') : undefined);

/** Reads the event in a row. */
export function toEvent(get: GetCell): StoredEvent {
  const event: Record<string, unknown> = {};
  for (const [field, index] of byField) {
    const cell = get(index);
    const value = cell === null ? undefined : decode(index, cell);
    if (value !== undefined) event[field] = value;
  }
  const shard = get(AT.shard);
  if (shard && event.type !== 'click') event.shard = shard;
  const device = getDevice(get);
  if (device) event.device = device;
  const rest = get(AT.rest);
  if (rest !== null) Object.assign(event, JSON.parse(String(rest)));
  const clientEventId = get(AT.clientEventId);
  if (clientEventId !== null) event.client_event_id = clientEventId;
  const keys = getKeys(get, referencesOf(event as StoredEvent));
  if (keys) event.keys = keys;
  const count = get(AT.adRequests);
  if (count !== null) {
    // An ad request has a source too. The two kinds of events share no other column.
    event.ad_requests = { count, placement: get(AT.placement) ?? '', source: event.source ?? '' };
    delete event.source;
  }
  if (event.creative_id === undefined) event.creative_id = null;
  return event as StoredEvent;
}

function putAdRequests(
  { count, placement, source }: { count: number; placement: string; source: string },
  put: PutValue,
): boolean {
  if (!placement.isWellFormed() || !source.isWellFormed()) return false;
  return put(AT.adRequests, count) && put(AT.placement, placement) && put(AT.source, source);
}

/** Stores fields in their columns and the rest as JSON. An empty description is kept as one. */
function putDevice(device: Record<string, string>, put: PutValue): true {
  const others: [string, unknown][] = [];
  let isEmpty = true;
  for (const field in device) {
    isEmpty = false;
    const index = DEVICE_INDEXES.get(field);
    if (index === undefined || !put(index, device[field])) others.push([field, device[field]]);
  }
  if (others.length > 0 || isEmpty) put(AT.device, JSON.stringify(Object.fromEntries(others)));
  return true;
}

function getDevice(get: GetCell): Record<string, string> | undefined {
  const others = get(AT.device);
  const named = [...DEVICE_INDEXES].flatMap(([field, index]) => {
    const cell = get(index);
    return cell === null ? [] : [[field, String(cell)]];
  });
  if (named.length === 0 && others === null) return undefined;
  const rest: Record<string, string> = others === null ? {} : JSON.parse(String(others));
  return Object.fromEntries([...named, ...Object.entries(rest)]);
}

// Most keys are the id that a client gave its event, or a purchase's transaction. In `keys`, a placeholder refers to the column that has it, as
// in `["success:e:$client_event_id", "success:t:$tr_id"]`.

/** The values that placeholders stand for. */
const referencesOf = (event: StoredEvent): Map<string, string> =>
  new Map(
    Object.entries({
      $tr_id: 'tr_id' in event ? event.tr_id : undefined,
      $client_event_id: clientEventIdOf(event),
    }).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );

/** The part of a key after its scope, as in `success:t:<value>`. */
const valueOfKey = (key: string) => key.slice(/^(?:[a-z]+:)*/.exec(key)?.[0].length ?? 0);

function putKeys(keys: readonly string[], references: ReadonlyMap<string, string>, put: PutValue): boolean {
  const names = new Map([...references].map(([name, value]) => [value, name]));
  const packed = keys.map((key) => {
    const value = valueOfKey(key);
    return `${key.slice(0, key.length - value.length)}${names.get(value) ?? value}`;
  });
  const unpacked = unpackKeys(packed, references);
  if (unpacked.some((key, index) => key !== keys[index])) return false;
  return put(AT.keys, JSON.stringify(packed));
}

function unpackKeys(packed: readonly string[], references: ReadonlyMap<string, string>) {
  return packed.map((key) => {
    const value = valueOfKey(key);
    const stands = references.get(value);
    return stands === undefined ? key : `${key.slice(0, key.length - value.length)}${stands}`;
  });
}

function getKeys(get: GetCell, references: ReadonlyMap<string, string>): string[] | undefined {
  const cell = get(AT.keys);
  return cell === null ? undefined : unpackKeys(JSON.parse(String(cell)), references);
}
