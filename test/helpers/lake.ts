import { env } from 'cloudflare:workers';
import { type Bucket, type FileEntry, filePrefix, type StoredEvent } from '#lake';
import { eventsIn } from '../lake/stream.ts';

/** The names of an application's raw event files in R2, in order. */
export async function objectsOf(applicationId: string): Promise<string[]> {
  const { objects } = await env.RAW_EVENTS.list({ prefix: filePrefix(applicationId) });
  return objects.map(({ key }) => key).sort();
}

export const eventsInFiles = (files: readonly FileEntry[]): Promise<StoredEvent[]> =>
  eventsIn(env.RAW_EVENTS, files);

/** A bucket whose n-th change fails, before or after it is applied, or whose changes all fail. */
export class FaultyBucket implements Bucket {
  changes = 0;
  failures = 0;
  /** Called once, before the next object is written. */
  beforePut: (() => Promise<void>) | undefined;
  private readonly bucket: Bucket;
  private fault: { change: number; done: boolean } | 'always' | undefined;

  constructor(bucket: Bucket, fault?: { change: number; done: boolean } | 'always') {
    this.bucket = bucket;
    this.fault = fault;
  }

  heal(): void {
    this.fault = undefined;
  }

  get: Bucket['get'] = (key, options) => this.bucket.get(key, options);

  async put(key: string, bytes: Uint8Array): Promise<unknown> {
    const before = this.beforePut;
    this.beforePut = undefined;
    await before?.();
    return this.around(() => this.bucket.put(key, bytes));
  }

  async delete(keys: string[]): Promise<void> {
    await this.around(() => this.bucket.delete(keys));
  }

  private async around(change: () => Promise<unknown>): Promise<void> {
    this.changes++;
    const fails = this.fault === 'always' || this.fault?.change === this.changes;
    if (fails) this.failures++;
    if (fails && (this.fault === 'always' || !this.fault?.done))
      throw new Error('R2 failed before it was done');
    await change();
    if (fails) throw new Error('R2 failed after it was done');
  }
}
