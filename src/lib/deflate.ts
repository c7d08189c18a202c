import type { Buffer } from 'node:buffer';
import process from 'node:process';

// Node's zlib is loaded when it is first needed, because most isolates never are asked for what it packs.
const zlib = () => process.getBuiltinModule('node:zlib');

/** Higher levels take twice as long and save at most a tenth. */
const LEVEL = 3;

/** Compresses text with deflate, without a header. */
export const deflateText = (text: string): Buffer => zlib().deflateRawSync(text, { level: LEVEL });

/** Reads what `deflateText` wrote. Throws on anything else. */
export const inflateText = (bytes: Uint8Array): string => zlib().inflateRawSync(bytes).toString();
