import { UUID, uuidv7obj } from 'uuidv7';

/** What an id names; the prefix makes ids readable in logs and unmistakable in support requests. */
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
  | 'clk';

const ID = /^[a-z]{2,4}_[0-9a-f]{32}$/;

/** A new id: `<prefix>_<UUIDv7 as 32 hex digits>`, so ids of one kind sort by the time they were made. */
export function newId(prefix: IdPrefix): string {
  return `${prefix}_${uuidv7obj().toHex()}`;
}

export function isId(prefix: IdPrefix, id: string): boolean {
  return ID.test(id) && id.startsWith(`${prefix}_`);
}

/** The 16 bytes behind an id. Throws on anything that `newId` did not make. */
export function idToBytes(id: string): Uint8Array {
  return UUID.parse(id.slice(id.indexOf('_') + 1)).bytes;
}

export function idFromBytes(prefix: IdPrefix, bytes: Uint8Array): string {
  return `${prefix}_${UUID.ofInner(Uint8Array.from(bytes)).toHex()}`;
}

/** When an id was made, epoch milliseconds. */
export function idTime(id: string): number {
  return Number.parseInt(id.slice(id.indexOf('_') + 1, id.indexOf('_') + 13), 16);
}

/** The second (Unix time) in which an id was made: the first 48 bits of a UUIDv7 are milliseconds. */
export function idSecond(id: string): number {
  return Math.floor(idTime(id) / 1000);
}
