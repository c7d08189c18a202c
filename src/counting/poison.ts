import { isOfDevice, type LoggedEvent, SegmentBook } from '#catalogue';
import { logError } from '#lib/log';
import { type DeviceHistory, Journal, startTally } from '#rollup';
import { CountedDevice, loadDevices, readHistories, Shared } from './counted-devices.ts';
import type { Store } from './store.ts';

/** Counting this event threw an error. */
export class PoisonError extends Error {
  readonly event: LoggedEvent;
  constructor(event: LoggedEvent, cause: unknown) {
    super(`An event can't be counted: ${String(cause)}`, { cause });
    this.event = event;
  }
}

/** The stored state of these devices cannot be parsed, which was only noticed when the run was written. */
export class BrokenDevicesError extends Error {
  readonly ids: readonly string[];
  constructor(ids: readonly string[], cause: unknown) {
    super(`The state of ${ids.length} devices can't be read: ${String(cause)}`, { cause });
    this.ids = ids;
  }
}

/** Parked messages have fixed texts. The error itself is only in the log, next to the event's id. */
function logPoison(event: LoggedEvent, error: unknown): void {
  logError('event parked', error, { event_id: event.id, application_id: event.application_id });
}

/** The ids of the events that cannot be counted. Each is counted alone, so that all of them are found at once. */
export function* findPoison(
  store: Store,
  applicationId: string,
  events: readonly LoggedEvent[],
): Generator<string> {
  const ids = events.filter(isOfDevice).map((event) => event.device_id);
  const known = new Map(
    [...loadDevices(store, applicationId, new Set(ids), new Shared())].map((device) => [device.id, device]),
  );
  const histories = readHistories(store, known.keys());
  for (const event of events) {
    const loaded = isOfDevice(event) ? known.get(event.device_id) : undefined;
    try {
      countAlone(event, loaded && new CountedDevice(loaded, new Journal()), histories);
    } catch (error) {
      logPoison(event, error);
      yield event.id;
    }
  }
}

function countAlone(
  event: LoggedEvent,
  device: CountedDevice | undefined,
  histories: ReadonlyMap<string, DeviceHistory>,
): void {
  const tally = startTally({
    deviceOf: ({ acquired_day }) => (acquired_day === device?.acquiredDay ? device : undefined),
    keys: { eventOf: () => undefined, take: () => undefined },
    revokedTokens: new Map(),
    segments: new SegmentBook(),
  });
  if (!tally.count(event) || !device || !isOfDevice(event)) return;
  device.addToTotals(event);
  const history = histories.get(device.id);
  if (history) device.toRow(history);
}
