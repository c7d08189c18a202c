import type { TextColumn } from './part-file.ts';

/** The rows among `rows`, or among all, that have a wanted text; null for all. */
export function matchingRows(
  size: number,
  { values, numbers }: TextColumn,
  isWanted: (text: string) => boolean,
  rows: Int32Array | null,
): Int32Array | null {
  const flags = Uint8Array.from(values, (text) => (isWanted(text) ? 1 : 0));
  if (!flags.includes(0)) return rows;
  const found = new Int32Array(numbers && flags.includes(1) ? (rows?.length ?? size) : 0);
  if (!numbers || found.length === 0) return found;
  let count = 0;
  if (rows) {
    for (const row of rows) if (flags[numbers[row] ?? 0] === 1) found[count++] = row;
  } else {
    for (let row = 0; row < size; row++) if (flags[numbers[row] ?? 0] === 1) found[count++] = row;
  }
  return found.subarray(0, count);
}
