// Blocks are added and deleted, never changed, so an isolate keeps those that it read last: most pages of the dashboard read the same
// weeks. An entry has all blocks of one span, and its key names them, so that an entry is never out of date.

/** The blocks that an isolate keeps, in bytes. */
const MAX_BYTES = 16_000_000;

export class BlockCache {
  private readonly maxBytes: number;
  private bytes = 0;
  /** In the order of use, the one unused for longest first. */
  private readonly entries = new Map<string, { blocks: readonly string[]; bytes: number }>();

  constructor(maxBytes = MAX_BYTES) {
    this.maxBytes = maxBytes;
  }

  get(key: string): readonly string[] | undefined {
    const entry = this.entries.get(key);
    if (!entry) return undefined;
    this.entries.delete(key);
    this.entries.set(key, entry);
    return entry.blocks;
  }

  set(key: string, blocks: readonly string[]): void {
    const bytes = blocks.reduce((sum, block) => sum + block.length, 0);
    // A few large spans would displace everything else.
    if (bytes > this.maxBytes / 4) return;
    this.bytes += bytes - (this.entries.get(key)?.bytes ?? 0);
    this.entries.delete(key);
    this.entries.set(key, { blocks, bytes });
    for (const [oldest, entry] of this.entries) {
      if (this.bytes <= this.maxBytes) return;
      this.entries.delete(oldest);
      this.bytes -= entry.bytes;
    }
  }
}
