import { inArray, sql } from 'drizzle-orm';
import { columnNames, pagesOf, type TableRow } from '#db';
import { type Bucket, type StoredEvent, writeParts } from '#lake';
import { progressOf } from '../log.ts';
import { devices } from '../schema.ts';
import { type ObjectStore, toParameters } from '../store.ts';

// What raw events do not tell about a device (its backend's name for it, why it was attributed) is written to R2 whenever its install is. It
// fills the gap between the last snapshot and the last export.

/** The prefix of what one counter wrote; the number of the last exported batch follows. */
export const newDevicesPrefix = (applicationId: string, shard: number) =>
  `snapshots/new-devices/${applicationId}/${shard}/`;

/** The number in a key; those of ranges after a snapshot are larger than its `countedBatch`. */
export const batchOfNewDevices = (key: string): number =>
  Number(/\/(\d+)(?:-\d+)?\/[^/]+$/.exec(key)?.[1] ?? 0);

/** The devices whose installs are among some events. */
export class NewDevices {
  private readonly ids = new Set<string>();

  /** Passes on events and notes whose installs are among them. */
  *noteIn(slices: Iterable<StoredEvent[]>): Generator<StoredEvent[]> {
    for (const events of slices) {
      for (const event of events) if (event.type === 'install') this.ids.add(event.device_id);
      yield events;
    }
  }

  /** Writes what is known of them. Writing the same range again replaces it. */
  async write(
    bucket: Pick<Bucket, 'put'>,
    store: ObjectStore,
    { applicationId, shard }: { applicationId: string; shard: number },
    batch: number,
  ): Promise<void> {
    if (this.ids.size === 0) return;
    // A counter that has lost what it stored numbers its batches anew, and must not replace what it wrote before.
    const { lostAt } = progressOf(store);
    const again = lostAt === null ? '' : `-${lostAt}`;
    const prefix = `${newDevicesPrefix(applicationId, shard)}${batch}${again}`;
    await writeParts(bucket, prefix, 'devices', { columns: columnNames(devices), rows: this.rows(store) });
  }

  private async *rows(store: ObjectStore): AsyncGenerator<TableRow[]> {
    for (const parameter of toParameters(this.ids)) {
      const own = inArray(devices.id, sql`(SELECT value FROM json_each(${parameter}))`);
      yield* pagesOf(devices, own, (query) => store.values(query));
    }
  }
}
