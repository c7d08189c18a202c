/** 4 MB if all are as long as an id. */
const MAX_TEXTS = 50_000;

/**
 * Decodes texts that come again and again, each once: the ids of the same creatives are in every part of the cube. Finding one by its bytes
 * takes a tenth of the time that decoding it and looking it up takes, and all parts share it.
 */
export class InternedTexts {
  private readonly maxTexts: number;
  private readonly utf8: TextDecoder;
  /** By hash, the text that was decoded last. */
  private readonly known = new Map<number, string>();

  constructor(utf8: TextDecoder, maxTexts = MAX_TEXTS) {
    this.utf8 = utf8;
    this.maxTexts = maxTexts;
  }

  of(bytes: Uint8Array): string {
    const hash = hashOf(bytes);
    const found = this.known.get(hash);
    if (found !== undefined && isAscii(found, bytes)) return found;
    const text = this.utf8.decode(bytes);
    if (this.known.size >= this.maxTexts) this.known.clear();
    this.known.set(hash, text);
    return text;
  }
}

/** FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/ */
function hashOf(bytes: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < bytes.length; at++) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193);
  return hash;
}

/** Whether a text is these bytes as ASCII. */
function isAscii(text: string, bytes: Uint8Array): boolean {
  if (text.length !== bytes.length) return false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte > 127 || text.charCodeAt(at) !== byte) return false;
  }
  return true;
}
