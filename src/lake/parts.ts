import type { Bucket } from './entry.ts';

// Rows of a table as JSON Lines, in objects of bounded size: `<prefix>/<table>-<number>.jsonl`. The first line has the names of the columns.

/** The size after which a part ends, in characters. */
const PART_CHARACTERS = 3_000_000;

type Lines = { columns: readonly string[]; rows: AsyncIterable<readonly unknown[]> };

/** What was written: the number of rows and of parts. A table without rows has no part. */
export type WrittenParts = { rows: number; parts: number };

export const partKey = (prefix: string, table: string, part: number): string =>
  `${prefix}/${table}-${String(part).padStart(5, '0')}.jsonl`;

/** Writes the pages of a table's rows. Parts of an earlier attempt are replaced. */
export async function writeParts(
  bucket: Pick<Bucket, 'put'>,
  prefix: string,
  table: string,
  { columns, rows: pages }: Lines,
): Promise<WrittenParts> {
  const encoder = new TextEncoder();
  const head = JSON.stringify(columns);
  let [lines, characters]: [string[], number] = [[], 0];
  const written = { rows: 0, parts: 0 };
  const close = async () => {
    const key = partKey(prefix, table, written.parts++);
    await bucket.put(key, encoder.encode(`${[head, ...lines].join('\n')}\n`));
    [lines, characters] = [[], 0];
  };
  for await (const page of pages) {
    for (const row of page) {
      const line = JSON.stringify(row);
      lines.push(line);
      characters += line.length + 1;
      written.rows++;
      if (characters >= PART_CHARACTERS) await close();
    }
  }
  if (lines.length > 0) await close();
  return written;
}

/** Reads the text of a part. Throws a `SyntaxError` if it is cut off or is something else. */
export function readPart<Cell>(text: string): { columns: string[]; rows: Cell[][] } {
  if (!text.endsWith('\n')) throw new SyntaxError('the part is cut off');
  const [head = '', ...lines] = text.slice(0, -1).split('\n');
  return { columns: JSON.parse(head), rows: lines.map((line) => JSON.parse(line)) };
}
