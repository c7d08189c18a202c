import { stat } from 'node:fs/promises';
import { isOfDevice, kindOf, sentKeyOf } from '#catalogue';
import { type Bucket, type Placed, type StoredDeviceEvent, type StoredEvent, streamFile } from '#lake';
import { readRange } from './read-range.ts';

const MAGIC = 'PAR1';

/** A device and an envelope without a token; null for an event that the service itself creates. */
type ArchivedEvent = {
  device: { id: string; acquiredDay: string } & Placed;
  envelope: { type: string; [field: string]: unknown } | null;
};

/** Whether a file starts with the signature of Parquet. */
export async function isParquet(file: string): Promise<boolean> {
  return (await readRange(file, 0, MAGIC.length)).toString('latin1') === MAGIC;
}

/**
 * Reads the events of a raw event file as envelopes, in the order of the file: by device, then time. Purchases keep their keys; other events
 * use the id that their client gave them, else their own, so that an import can be repeated. Clicks are left out, because they have no device, and so are events that were not
 * counted, except test events.
 */
export async function* readParquet(file: string): AsyncGenerator<ArchivedEvent> {
  const { size } = await stat(file);
  const footer = await readRange(file, Math.max(0, size - 8), 8);
  const location = { key: file, bytes: size, footerBytes: footer.readUInt32LE(0) + 8 };
  for await (const events of streamFile(FILES, location)) {
    for (const event of events) if (isKept(event)) yield toArchived(event);
  }
}

const isKept = (event: StoredEvent): event is StoredDeviceEvent =>
  isOfDevice(event) && (event.outcome === undefined || event.test === true);

/** Local files by path. */
const FILES: Bucket = {
  async get(file, { range: { offset, length } }) {
    const bytes = await readRange(file, offset, length);
    return { arrayBuffer: () => Promise.resolve(new Uint8Array(bytes).buffer) };
  },
  put: () => Promise.reject(new Error('Raw event files are read-only here')),
  delete: () => Promise.reject(new Error('Raw event files are read-only here')),
};

function toArchived(event: StoredDeviceEvent): ArchivedEvent {
  const { device_id, acquired_day, country, os_family, device, test } = event;
  const wire = kindOf(event).toWire?.(event);
  const dedupeKey = sentKeyOf(event, 'dedupe_key');
  return {
    device: { id: device_id, acquiredDay: acquired_day, country, os_family },
    envelope: wire
      ? {
          ...device,
          ...wire,
          created_at: new Date(event.occurred_at).toISOString(),
          event_id: event.client_event_id ?? event.id,
          ...(dedupeKey === undefined ? {} : { dedupe_key: dedupeKey }),
          ...(test ? { dev: true } : {}),
        }
      : null,
  };
}
