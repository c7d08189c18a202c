import * as z from 'zod';
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

/** The key of the previous page's last row; null for the first page. Throws `invalid_request` if the cursor is malformed. */
export function readKeyCursor(cursor: string, length: number): string[] | null {
  if (cursor === '') return null;
  try {
    const text = new TextDecoder().decode(fromBase64Url(cursor) ?? new Uint8Array());
    return z.array(z.string()).length(length).parse(JSON.parse(text));
  } catch {
    throw invalidRequest([{ path: 'cursor', message: 'must be a cursor returned by a previous request' }]);
  }
}
