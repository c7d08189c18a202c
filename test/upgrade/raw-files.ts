import { showEvent } from '../../src/events/list-events.ts';
import { type FileEntry, type StoredEvent, writeFiles } from '../../src/lake/index.ts';
import { MemoryBucket } from '../lake/memory-bucket.ts';
import { APPLICATION_ID, makeSlices } from '../lake/workload.ts';

/** `raw-files.json`: two raw event files as a release wrote them, and their events as its API showed them. */
export type StoredFiles = {
  /** Device filters and contents in base64. */
  entries: (Omit<FileEntry, 'deviceFilter'> & { deviceFilter: string })[];
  objects: Record<string, string>;
  events: { event_id: string; device_id?: string; country?: string }[];
};

/** Events of every kind, among them values that do not fit their columns, and amounts as large and as small as they get. */
function makeEvents(): StoredEvent[] {
  const usual = [...makeSlices({ events: 48, devices: 6, seed: 3 })].flat();
  const [sample] = usual;
  if (!sample || !('device_id' in sample)) throw new Error('The history starts without a device');
  const { application_id, device_id, creative_id, acquired_day, day, occurred_at, received_at } = sample;
  const unusual = [
    { type: 'click', creative_id: `crt_${'a'.repeat(32)}`, params: { gclid: 'x1' } },
    { type: 'install', device: { device_name: 'Android' } },
    {
      type: 'custom',
      event_name: 'ad_request',
      ad_requests: { count: 3, placement: 'shop', source: 'banner' },
    },
    {
      type: 'custom',
      event_name: 'odd',
      params: { a: '{"b":1}' },
      test: true,
      warnings: [{ path: 'x', message: 'y' }],
    },
    {
      type: 'retention',
      age: 2,
      backfill_day: 1,
      session_id: 's',
      session_end: true,
      session_seconds: 30,
    },
    {
      type: 'custom.purchase',
      item_id: 'gem',
      value_nanos: 1,
      currency: 'twd',
      status: 'failed',
      keys: ['t:\ud800'],
      outcome: 'duplicate',
      duplicate_of: sample.id,
    },
    {
      type: 'custom.ad',
      ad_id: 'a\ud800',
      source: 'banner',
      value_nanos: 999_999_999_990_000_000,
      currency: 'usd',
      token_expired: true,
      clock_ahead: true,
      outcome: 'ignored',
      reason: 'test',
    },
  ].map((fields, index) => {
    const at = received_at + 3_599_000 + index;
    const common = { application_id, day, occurred_at, received_at: at };
    const ofDevice = fields.type === 'click' ? {} : { device_id, creative_id, acquired_day };
    const id = `evt_${at.toString(16).padStart(12, '0')}${'7'.padEnd(20, String(index))}`;
    return { id, ...common, ...ofDevice, ...fields };
  });
  return [...usual, ...(unusual as StoredEvent[])];
}

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');

export async function writeRawFiles(): Promise<StoredFiles> {
  const events = makeEvents();
  const bucket = new MemoryBucket();
  const source = { applicationId: APPLICATION_ID, shard: 0 };
  const entries: FileEntry[] = [];
  for (const part of [events.slice(0, 20), events.slice(20)])
    entries.push(...(await writeFiles(bucket, source, [part])));
  return {
    entries: entries.map((entry) => ({ ...entry, deviceFilter: base64(entry.deviceFilter) })),
    objects: Object.fromEntries([...bucket.objects].map(([key, bytes]) => [key, base64(bytes)])),
    events: events.map(showEvent) as StoredFiles['events'],
  };
}

/** The files in a bucket of their own, as the release left them. */
export function restoreRawFiles({ entries, objects }: StoredFiles): {
  bucket: MemoryBucket;
  entries: FileEntry[];
} {
  const bucket = new MemoryBucket();
  for (const [key, content] of Object.entries(objects))
    bucket.objects.set(key, new Uint8Array(Buffer.from(content, 'base64')));
  const restored = entries.map((entry) => ({
    ...entry,
    deviceFilter: new Uint8Array(Buffer.from(entry.deviceFilter, 'base64')),
  }));
  return { bucket, entries: restored };
}
