import { parseExactJson } from './exact-json.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The JSON in bytes, as `parseExactJson` reads it; null if they are none, or not UTF-8. */
export function parseJsonBytes(bytes: Uint8Array | null): unknown {
  try {
    return bytes && parseExactJson(utf8.decode(bytes));
  } catch {
    return null;
  }
}
