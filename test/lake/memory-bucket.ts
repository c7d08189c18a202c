import type { Bucket, FileEntry, FileIndex } from '../../src/lake/index.ts';

/** R2 in memory, which counts its calls. One call, to it or to its index, may fail before or after it is done. */
export class MemoryBucket implements Bucket {
  readonly objects = new Map<string, Uint8Array>();
  readonly faults: Faults;
  reads = 0;
  bytesRead = 0;

  constructor(faults = new Faults()) {
    this.faults = faults;
  }

  put(key: string, bytes: Uint8Array): Promise<void> {
    return this.faults.around(() => void this.objects.set(key, bytes.slice()));
  }

  async get(key: string, { range }: { range: { offset: number; length: number } }) {
    const object = this.objects.get(key);
    if (!object) return null;
    const bytes = object.slice(range.offset, range.offset + range.length);
    this.reads++;
    this.bytesRead += bytes.length;
    return { arrayBuffer: () => Promise.resolve(bytes.buffer) };
  }

  delete(keys: string[]): Promise<void> {
    return this.faults.around(() => {
      for (const key of keys) this.objects.delete(key);
    });
  }
}

/** The entries of files, as a counter would hold them. */
export class MemoryIndex implements FileIndex {
  entries: FileEntry[];
  private readonly faults: Faults;

  constructor(entries: FileEntry[], faults = new Faults()) {
    this.entries = entries;
    this.faults = faults;
  }

  replace(old: readonly FileEntry[], next: FileEntry): Promise<void> {
    return this.faults.around(() => {
      const gone = new Set(old.map(({ key }) => key));
      this.entries = [...this.entries.filter(({ key }) => !gone.has(key)), next];
    });
  }

  remove(entries: readonly FileEntry[]): Promise<void> {
    return this.faults.around(() => {
      const gone = new Set(entries.map(({ key }) => key));
      this.entries = this.entries.filter(({ key }) => !gone.has(key));
    });
  }
}

/** Lets the n-th change fail, before it is done or after. */
export class Faults {
  changes = 0;
  private readonly failing: { change: number; done: boolean } | undefined;

  constructor(failing?: { change: number; done: boolean }) {
    this.failing = failing;
  }

  async around(change: () => void): Promise<void> {
    this.changes++;
    const fails = this.failing?.change === this.changes;
    if (fails && !this.failing?.done) throw new Error('failed before it was done');
    change();
    if (fails) throw new Error('failed after it was done');
  }
}
