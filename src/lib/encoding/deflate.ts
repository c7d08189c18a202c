import type { Buffer } from 'node:buffer';
import { createRequire } from 'node:module';

const require = createRequire('/');

// Most isolates never compress anything, so zlib is loaded on first use. Not with `getBuiltinModule` of `node:process`: that module loads
// Node's streams, which took a fifth of an isolate's start-up.
const zlib = () => require('node:zlib');

/** Higher levels take twice as long and save at most a tenth. */
const LEVEL = 3;

/** Compresses text with deflate, without a header. */
export const deflateText = (text: string): Buffer => zlib().deflateRawSync(text, { level: LEVEL });

/** The runtime doubles its buffer before it needs it, and refuses to at half of the limit. */
const SPARE = 2;
const SPARE_BYTES = 131_072;

/**
 * Inflates a gzip body of at most `maxBytes`. Throws a `RangeError`, without inflating much more, if it has more, and another error if it
 * is malformed.
 */
export function gunzip(bytes: Uint8Array, maxBytes: number): Uint8Array {
  const inflated = zlib().gunzipSync(bytes, { maxOutputLength: SPARE * maxBytes + SPARE_BYTES });
  if (inflated.length > maxBytes) throw new RangeError('The content is too large');
  return inflated;
}

/** Reads what `deflateText` wrote. Throws on anything else. */
export const inflateText = (bytes: Uint8Array): string => zlib().inflateRawSync(bytes).toString();
