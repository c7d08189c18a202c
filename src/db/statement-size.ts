// `wrangler d1 export` writes each row as one INSERT, and D1 imports no statement over 100,000 bytes, although a value that is bound to a
// statement may have 2 MB. So no row may have more than that, or an export could not be imported again.

/** Source: https://developers.cloudflare.com/d1/platform/limits/, "Maximum SQL statement length". */
const MAX_STATEMENT_BYTES = 100_000;

/** What the largest value of a row may take in a statement: see `bytesInStatement`. The rest is for the names of columns and the other values. */
export const MAX_VALUE_BYTES = MAX_STATEMENT_BYTES - 10_000;

/** The most bytes of a UTF-16 unit in a statement. */
const MAX_UNIT_BYTES = 3;

/** The bytes of a character in a statement: UTF-8, with quotes doubled and line breaks as `\n` and `\r`. */
function bytesOf(character: string): number {
  if (character === "'" || character === '\n' || character === '\r') return 2;
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  return code < 0x10000 ? 3 : 4;
}

/** Splits a text into chunks that each may be the largest value of a row: one, unless it is long. */
export function splitValue(text: string): [first: string, ...more: string[]] {
  // A short text fits whatever its characters are.
  if (text.length * MAX_UNIT_BYTES <= MAX_VALUE_BYTES) return [text];
  const ends: number[] = [];
  let [at, bytes] = [0, 0];
  for (const character of text) {
    const added = bytesOf(character);
    if (bytes + added > MAX_VALUE_BYTES) {
      ends.push(at);
      bytes = 0;
    }
    at += character.length;
    bytes += added;
  }
  return [text.slice(0, ends[0]), ...ends.map((end, index) => text.slice(end, ends[index + 1]))];
}
