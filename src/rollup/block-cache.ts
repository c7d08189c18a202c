import type { OpenBlock } from './open-block.ts';

// Blocks are added and deleted, never changed, so an isolate keeps those that it read last: most pages of the dashboard read the same
// weeks. An entry has the blocks of one span together, and its key names them, so that it is never out of date.

/** The blocks that an isolate keeps. */
const MAX_BYTES = 16_000_000;
/** A value of a key is a reference to a text that all blocks share. */
const VALUE_BYTES = 8;
/** The texts that are shared. */
const MAX_TEXTS = 20_000;

export class BlockCache {
  private readonly maxBytes: number;
  private bytes = 0;
  /** In the order of use, the one unused for longest first. */
  private readonly entries = new Map<string, { block: OpenBlock; bytes: number }>();
  private readonly texts = new Map<string, string>();

  constructor(maxBytes = MAX_BYTES) {
    this.maxBytes = maxBytes;
  }

  get(key: string): OpenBlock | undefined {
    const entry = this.entries.get(key);
    if (!entry) return undefined;
    this.entries.delete(key);
    this.entries.set(key, entry);
    return entry.block;
  }

  /** Returns the kept copy of a text. Most blocks of an application name the same creatives, whose ids are then hashed only once. */
  readonly share = (text: string): string => {
    const known = this.texts.get(text);
    if (known !== undefined) return known;
    if (this.texts.size >= MAX_TEXTS) this.texts.clear();
    this.texts.set(text, text);
    return text;
  };

  /** Whether blocks of so many bytes fit all at once. */
  holds(bytes: number): boolean {
    return bytes <= this.maxBytes;
  }

  /** Whether blocks of so many bytes would be kept. */
  takes(bytes: number): boolean {
    return bytes <= this.maxBytes / 4;
  }

  set(key: string, block: OpenBlock): void {
    const bytes = block.bytes + valuesIn(block) * VALUE_BYTES;
    // A few large spans would displace everything else.
    if (!this.takes(bytes)) return;
    this.bytes += bytes - (this.entries.get(key)?.bytes ?? 0);
    this.entries.delete(key);
    this.entries.set(key, { block, bytes });
    for (const [oldest, entry] of this.entries) {
      if (this.bytes <= this.maxBytes) return;
      this.entries.delete(oldest);
      this.bytes -= entry.bytes;
    }
  }
}

const valuesIn = ({ keys }: OpenBlock) => keys.reduce((sum, values) => sum + values.length, 0);
