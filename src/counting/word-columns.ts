const NEWLINE = 10;
const SPACE = ' ';
const BYTES_PER_WORD = 4;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * Rows of 32-bit words, stored as bytes. The names of their columns come first, once, so that a release reads those that it knows, in
 * whatever order another one wrote them.
 */
export class WordColumns {
  private readonly names: readonly string[];
  /** The names, separated by spaces and ending with a newline: whole words, so that what follows is aligned. */
  private readonly head: Uint8Array;

  constructor(names: readonly string[]) {
    this.names = names;
    const text = names.join(SPACE);
    const length = Math.ceil((text.length + 1) / BYTES_PER_WORD) * BYTES_PER_WORD;
    this.head = encoder.encode(`${text.padEnd(length - 1)}\n`);
  }

  /** Words per row. */
  get width(): number {
    return this.names.length;
  }

  /** `words` are the rows, one after another. No rows are stored as no bytes. */
  write(words: Uint32Array): Uint8Array {
    if (words.length === 0) return new Uint8Array();
    const bytes = new Uint8Array(this.head.length + words.byteLength);
    bytes.set(this.head);
    bytes.set(new Uint8Array(words.buffer, words.byteOffset, words.byteLength), this.head.length);
    return bytes;
  }

  /** The rows, one after another; null if they lack a column. Unknown columns are left out. */
  read(bytes: Uint8Array): Uint32Array | null {
    const { head, names } = this;
    const end = bytes.indexOf(NEWLINE) + 1;
    const words = wordsOf(bytes.subarray(end));
    if (bytes.length === 0 || (end === head.length && head.every((byte, at) => byte === bytes[at]))) {
      return words;
    }
    const stored = decoder.decode(bytes.subarray(0, end)).trim().split(SPACE);
    const places = names.map((name) => stored.indexOf(name));
    if (places.includes(-1)) return null;
    const rows = Math.floor(words.length / stored.length);
    const picked = new Uint32Array(rows * names.length);
    for (let row = 0; row < rows; row++) {
      for (const [column, place] of places.entries()) {
        picked[row * names.length + column] = words[row * stored.length + place] ?? 0;
      }
    }
    return picked;
  }
}

/** The 32-bit words of a blob, regardless of its alignment. */
export function wordsOf(bytes: Uint8Array): Uint32Array {
  const aligned = bytes.byteOffset % BYTES_PER_WORD === 0 ? bytes : bytes.slice();
  return new Uint32Array(aligned.buffer, aligned.byteOffset, Math.floor(aligned.byteLength / BYTES_PER_WORD));
}
