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

/** Reads what `deflateText` wrote. Throws on anything else. */
export const inflateText = (bytes: Uint8Array): string => zlib().inflateRawSync(bytes).toString();
