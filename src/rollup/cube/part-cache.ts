import { type ColumnSource, isText, type PartColumn, PartFile } from './part-columns.ts';

// Parts are added and deleted, never changed, so an isolate keeps the columns that it read last: most reports of a page read the same ones.

/** What an isolate keeps. */
const MAX_BYTES = 16_000_000;

/** Columns of a part. What lacks one reads it from the part's text. */
export type KeptPart = { readonly size: number; readonly columns: ReadonlyMap<string, PartColumn> };

export class PartCache {
  private readonly maxBytes: number;
  private bytes = 0;
  /** In the order of use, the one unused for longest first. */
  private readonly entries = new Map<string, { part: KeptPart; bytes: number }>();

  constructor(maxBytes = MAX_BYTES) {
    this.maxBytes = maxBytes;
  }

  get(key: string): KeptPart | undefined {
    const entry = this.entries.get(key);
    if (!entry) return undefined;
    this.entries.delete(key);
    this.entries.set(key, entry);
    return entry.part;
  }

  /** How a scan keeps what it reads: at most half of the cache, so that a long one does not displace everything else. */
  keeper(): (key: string, part: KeptPart) => void {
    let room = this.maxBytes / 2;
    return (key, part) => {
      // Another scan may have read other columns of it meanwhile.
      const known = this.entries.get(key);
      const whole = { size: part.size, columns: new Map([...(known?.part.columns ?? []), ...part.columns]) };
      const bytes = bytesOf(whole);
      room -= bytes - (known?.bytes ?? 0);
      if (room >= 0) this.set(key, whole, bytes);
    };
  }

  private set(key: string, part: KeptPart, bytes: number): void {
    this.bytes += bytes - (this.entries.get(key)?.bytes ?? 0);
    this.entries.delete(key);
    this.entries.set(key, { part, bytes });
    for (const [oldest, entry] of this.entries) {
      if (this.bytes <= this.maxBytes) return;
      this.entries.delete(oldest);
      this.bytes -= entry.bytes;
    }
  }
}

/** Parts share the texts of their values. */
const VALUE_BYTES = 16;

const bytesOf = ({ columns }: KeptPart): number => {
  let total = 0;
  for (const column of columns.values()) {
    if (isText(column)) total += (column.numbers?.byteLength ?? 0) + column.values.length * VALUE_BYTES;
    else total += column?.byteLength ?? 0;
  }
  return total;
};

/** Reads the columns of a part that were not kept from its text. */
export class PartlyKept implements ColumnSource, KeptPart {
  readonly size: number;
  readonly columns: Map<string, PartColumn>;
  private readonly file: PartFile;

  private constructor(file: PartFile, kept: KeptPart | undefined) {
    this.size = file.size;
    this.file = file;
    this.columns = new Map(kept?.columns);
  }

  static async open(text: string, kept: KeptPart | undefined): Promise<PartlyKept> {
    return new PartlyKept(await PartFile.open(text), kept);
  }

  read(names: readonly string[]): ReadonlyMap<string, PartColumn> {
    const lacking = names.filter((name) => !this.columns.has(name));
    const read = lacking.length === 0 ? [] : this.file.read(lacking);
    for (const [name, column] of read) this.columns.set(name, column);
    return this.columns;
  }
}
