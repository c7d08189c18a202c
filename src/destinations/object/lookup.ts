import { RecentMap } from '#lib/collections/recent-map';

const MAX_REMEMBERED = 4_000;
/** What is looked up may change. */
const REMEMBERED_FOR_MS = 600_000;

/** Values by id that are read from D1, many at a time, and remembered for ten minutes. */
export class Lookup<Value> {
  private readonly read: (ids: readonly string[]) => Promise<ReadonlyMap<string, Value>>;
  private known = new RecentMap<string, { value: Value | undefined }>(MAX_REMEMBERED);
  private since = 0;
  private reading: Promise<void> = Promise.resolve();

  constructor(read: (ids: readonly string[]) => Promise<ReadonlyMap<string, Value>>) {
    this.read = read;
  }

  /** The values of some ids. If any is unknown, those that are `soon` wanted are read with it. Throws if D1 does not respond. */
  async of(
    ids: ReadonlySet<string>,
    soon: ReadonlySet<string>,
    now: number,
  ): Promise<ReadonlyMap<string, Value>> {
    if (now - this.since > REMEMBERED_FOR_MS) {
      this.known = new RecentMap(MAX_REMEMBERED);
      this.since = now;
    }
    if (this.missing(ids).length > 0) {
      // One after the other: what another call waits for may be what this one lacks.
      const next = this.reading.catch(() => undefined).then(() => this.readMissing(ids, soon));
      this.reading = next;
      await next;
    }
    const found = new Map<string, Value>();
    for (const id of ids) {
      const value = this.known.get(id)?.value;
      if (value !== undefined) found.set(id, value);
    }
    return found;
  }

  private missing(ids: ReadonlySet<string>): string[] {
    return [...ids].filter((id) => this.known.get(id) === undefined);
  }

  private async readMissing(ids: ReadonlySet<string>, soon: ReadonlySet<string>): Promise<void> {
    if (this.missing(ids).length === 0) return;
    const wanted = this.missing(new Set([...ids, ...soon]));
    const values = await this.read(wanted);
    for (const id of wanted) this.known.set(id, { value: values.get(id) });
  }
}
