import { uuidv7obj } from 'uuidv7';
import { toHex } from './encoding/hex.ts';

/** The kind of an id. The prefix makes ids readable in logs and unambiguous in support requests. */
export type IdPrefix =
  | 'team'
  | 'app'
  | 'key'
  | 'tkn'
  | 'tok'
  | 'dev'
  | 'evt'
  | 'prk'
  | 'cmp'
  | 'ads'
  | 'crt'
  | 'usr'
  | 'acc'
  | 'aud'
  | 'clk'
  | 'imp'
  | 'alr'
  | 'chn'
  | 'viw'
  | 'not'
  | 'con'
  | 'dst';

const ID = /^[a-z]{2,4}_[0-9a-f]{32}$/;

/** A new id: `<prefix>_<UUIDv7 as 32 hex digits>`. Ids of one kind sort by creation time. */
export function newId(prefix: IdPrefix): string {
  return `${prefix}_${uuidv7obj().toHex()}`;
}

export function isId(prefix: IdPrefix, id: string): boolean {
  return ID.test(id) && id.startsWith(`${prefix}_`);
}

/** The 16 bytes of an id. Throws on anything that `newId` did not create. */
export function idToBytes(id: string): Uint8Array {
  const start = id.indexOf('_') + 1;
  const bytes = new Uint8Array(16);
  let isHex = id.length === start + 32;
  for (let index = 0; index < 16; index++) {
    const high = NIBBLES[id.charCodeAt(start + 2 * index)] ?? NOT_HEX;
    const low = NIBBLES[id.charCodeAt(start + 2 * index + 1)] ?? NOT_HEX;
    if (high === NOT_HEX || low === NOT_HEX) isHex = false;
    bytes[index] = (high << 4) | low;
  }
  if (!isHex) throw new SyntaxError('not an id');
  return bytes;
}

const NOT_HEX = 255;
/** The value of each lower-case hexadecimal digit, by its code. */
const NIBBLES = new Uint8Array(128).fill(NOT_HEX);
for (const [value, digit] of [...'0123456789abcdef'].entries()) NIBBLES[digit.charCodeAt(0)] = value;

/** The id whose 16 bytes start at an index. */
export function idFromBytes(prefix: IdPrefix, bytes: Uint8Array, start = 0): string {
  return `${prefix}_${toHex(bytes, start, start + 16)}`;
}

/** Before every id of the kind that is created at a time (epoch milliseconds) or later, and after all others. */
export const firstIdAt = (prefix: IdPrefix, at: number): string =>
  `${prefix}_${Math.max(0, Math.ceil(at)).toString(16).padStart(12, '0')}`;

/** When an id was created, in epoch milliseconds: the first 48 bits of its UUIDv7. */
export function idTime(id: string): number {
  return Number.parseInt(id.slice(id.indexOf('_') + 1, id.indexOf('_') + 13), 16);
}

/** The next possible id of the same kind. */
export function idAfter(id: string): string {
  const [prefix, digits] = [id.slice(0, id.indexOf('_') + 1), id.slice(id.indexOf('_') + 1)];
  return prefix + (BigInt(`0x${digits}`) + 1n).toString(16).padStart(32, '0');
}
