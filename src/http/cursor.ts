import { type Column, type SQL, sql } from 'drizzle-orm';
import * as z from 'zod';
import { commaList } from '#db';
import { fromBase64Url, toBase64Url } from '#lib/encoding/base64url';
import { invalidRequest } from './errors.ts';

/** Four texts of 255 characters, up to four bytes each, as JSON in base64url. */
const MAX_LENGTH = 8_192;

/** The `?cursor=` of a list that is ordered by several texts. */
export const keyCursor = () =>
  z.string().max(MAX_LENGTH, `must be at most ${MAX_LENGTH} characters`).default('');

/**
 * A page of a list. `read` returns as many of its rows as it is asked for, or all that there are; `cursorOf` a row is the cursor after it.
 * `next_cursor` is null on the last page.
 */
export async function pageOf<Row>(
  limit: number,
  read: (limit: number) => Promise<readonly Row[]>,
  cursorOf: (row: Row) => string,
): Promise<{ data: Row[]; next_cursor: string | null }> {
  const found = await read(limit + 1);
  const data = found.slice(0, limit);
  const last = found.length > limit ? data.at(-1) : undefined;
  return { data, next_cursor: last === undefined ? null : cursorOf(last) };
}

/** The cursor of a list that is ordered by ids. */
export const idOf = ({ id }: { id: string }): string => id;

/** The cursor after a row of such a list. */
export const toKeyCursor = (key: readonly string[]): string =>
  toBase64Url(new TextEncoder().encode(JSON.stringify(key)));

/**
 * The condition for the rows after a cursor, in a list that is ordered by these columns. `newest`: the first one is a day, the latest first.
 * Throws `invalid_request` if the cursor is malformed.
 */
export function afterKeyCursor(cursor: string, columns: readonly Column[], newest = false): SQL | undefined {
  if (cursor === '') return undefined;
  const key = readKey(cursor, columns.length).map((part) => sql`${part}`);
  const isAfter = (from: number) =>
    sql`(${commaList(columns.slice(from))}) > (${commaList(key.slice(from))})`;
  const [day, lastDay] = [columns[0], key[0]];
  return newest ? sql`(${day} < ${lastDay} OR (${day} = ${lastDay} AND ${isAfter(1)}))` : isAfter(0);
}

function readKey(cursor: string, length: number): string[] {
  try {
    const text = new TextDecoder().decode(fromBase64Url(cursor) ?? new Uint8Array());
    return z.array(z.string()).length(length).parse(JSON.parse(text));
  } catch {
    throw invalidRequest([{ path: 'cursor', message: 'must be a cursor returned by a previous request' }]);
  }
}
