// `wrangler d1 export` writes each row as one INSERT, and D1 imports no statement over 100,000 bytes, although a value that is bound to a
// statement may have 2 MB. So no row may have more than that, or an export could not be imported again.

/** Source: https://developers.cloudflare.com/d1/platform/limits/, "Maximum SQL statement length". */
const MAX_STATEMENT_BYTES = 100_000;

/** What the largest value of a row may take in a statement. The rest is for the names of columns and the other values. */
export const MAX_VALUE_BYTES = MAX_STATEMENT_BYTES - 10_000;

/** As many characters as fit whatever they are. In a statement, none takes more than 4 bytes: UTF-8, with quotes doubled and line breaks as `\n`. */
const CHUNK = new RegExp(`.{1,${MAX_VALUE_BYTES / 4}}`, 'gsu');

/** Splits a text into chunks that each may be the largest value of a row: one, unless it is long. */
export const splitValue = (text: string): string[] => text.match(CHUNK) ?? [''];
