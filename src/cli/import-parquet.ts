import { open } from 'node:fs/promises';
import { type Bucket, type StoredEvent, streamFile } from '#lake';
import { fromMicros } from '#lib/money';

const MAGIC = 'PAR1';

/** An envelope without a token, and the device that it is of. */
export type ArchivedEvent = {
  device: { id: string; acquiredDay: string };
  envelope: { type: string; [field: string]: unknown };
};

/** Whether a file begins as Parquet files do. */
export async function isParquet(file: string): Promise<boolean> {
  return (await readRange(file, 0, MAGIC.length)).toString('latin1') === MAGIC;
}

/**
 * The events of a raw event file as envelopes, in the order of the file: by device, then time. Purchases go with their keys, other
 * events with their own id, so that an import can be repeated. Clicks are of no device and are left out, and so are events that
 * did not count; test events, which do not either, are kept.
 */
export async function* readParquet(file: string): AsyncGenerator<ArchivedEvent> {
  const handle = await open(file);
  const { size } = await handle.stat().finally(() => handle.close());
  const footer = await readRange(file, Math.max(0, size - 8), 8);
  const location = { key: file, bytes: size, footerBytes: footer.readUInt32LE(0) + 8 };
  for await (const events of streamFile(FILES, location)) {
    for (const event of events) if (event.type !== 'click' && isKept(event)) yield toArchived(event);
  }
}

type DeviceEvent = Exclude<StoredEvent, { type: 'click' }>;

const isKept = ({ outcome, test }: DeviceEvent) => outcome === undefined || test === true;

/** Files of this machine under their paths. */
const FILES: Bucket = {
  async get(file, { range: { offset, length } }) {
    const bytes = await readRange(file, offset, length);
    return { arrayBuffer: () => Promise.resolve(new Uint8Array(bytes).buffer) };
  },
  put: () => Promise.reject(new Error('Raw event files are only read here')),
  delete: () => Promise.reject(new Error('Raw event files are only read here')),
};

async function readRange(file: string, offset: number, length: number): Promise<Buffer> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, offset);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

function toArchived(event: DeviceEvent): ArchivedEvent {
  const { device_id, acquired_day, device, test } = event;
  const dedupeKey = keyValue(event, 'd');
  const isSessionEnd = event.type === 'retention' && event.session_end === true;
  return {
    device: { id: device_id, acquiredDay: acquired_day },
    envelope: {
      ...device,
      type: isSessionEnd ? 'session' : event.type,
      created_at: new Date(event.occurred_at).toISOString(),
      event_id: keyValue(event, 'e') ?? event.id,
      ...(dedupeKey === undefined ? {} : { dedupe_key: dedupeKey }),
      ...(test ? { dev: true } : {}),
      payload: payloadOf(event),
    },
  };
}

/** The value of the key of a kind: `e:<value>`, of a purchase `<outcome>:e:<value>`. */
function keyValue({ type, keys }: DeviceEvent, kind: 'd' | 'e') {
  const form = new RegExp(`^${type === 'custom.purchase' ? '[a-z]+:' : ''}${kind}:(.+)$`, 's');
  return keys?.map((key) => form.exec(key)?.[1]).find((value) => value !== undefined);
}

/** The fields of a payload under the names by which they come. */
function payloadOf(event: DeviceEvent): Record<string, unknown> {
  switch (event.type) {
    case 'install':
      return {};
    case 'retention': {
      const { session_id, session_end, session_seconds, age, backfill_day } = event;
      if (session_end) return { a: 'end', sid: session_id, sd: session_seconds };
      return { session_id, retentionDay: age, backfillDay: backfill_day };
    }
    case 'custom.purchase': {
      const { item_id, item_name, value_micros, currency, status, tr_id, total_purchase_value } = event;
      const value = fromMicros(BigInt(value_micros));
      return { item_id, item_name, value, currency, status, tr_id, total_purchase_value };
    }
    case 'custom.ad': {
      const { ad_id, name, source, media_source, channel, watch_time, reward, value_micros } = event;
      const { currency, total_ad_value } = event;
      const value = fromMicros(BigInt(value_micros));
      const ad = { ad_id, name, source, media_source, channel, watch_time, reward };
      return { ...ad, value, currency, total_ad_value };
    }
    case 'custom': {
      const { event_name, params } = event;
      return { event_name, params };
    }
  }
}
