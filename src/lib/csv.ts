import Papa from 'papaparse';

export type Cell = string | number | boolean | null | undefined;

// A text cell that begins with one of these runs as a formula, in their full-width forms too. Where the list separator is a
// semicolon or a tab, spreadsheets ignore quotes in the middle of a line, so that a new cell begins after each separator and each
// line break within the text. Source: OWASP, "CSV Injection".
const LEADING = /^(?=[\t\r\n]|[ \u00a0\u3000]*[=+\-@＝＋－＠])/;
const WITHIN = /([;\t\r\n])(?=[ \u00a0\u3000]*[=+\-@＝＋－＠])/g;

/** Excel reads a file without it in the machine's own code page, not as UTF-8. */
const BYTE_ORDER_MARK = '\ufeff';

/** The longest part of a file name, in characters: file systems take 255 bytes for all of it. */
const MAX_FILE_NAME_PART = 60;

const toInert = (cell: Cell): Cell =>
  typeof cell === 'string' ? cell.replace(WITHIN, "$1'").replace(LEADING, "'") : cell;

/**
 * CSV (RFC 4180, in UTF-8 with a byte order mark) with a header line, safe to open in a spreadsheet: text that would be a
 * formula, also after a semicolon or a line break, is led by an apostrophe. Numbers stay as they are, so -5 stays -5; null is an empty field.
 */
export function toCsv(columns: readonly string[], rows: readonly Readonly<Record<string, Cell>>[]): string {
  const fields = [columns, ...rows.map((row) => columns.map((column) => row[column]))].map((line) =>
    line.map(toInert),
  );
  // The list separator of another locale is quoted too.
  const quotes = (cell: unknown) => typeof cell === 'string' && cell.includes(';');
  return `${BYTE_ORDER_MARK}${Papa.unparse(fields, { newline: '\r\n', quotes })}\r\n`;
}

/**
 * The headers of a CSV file to save. Its name is made of `parts`, empty ones left out: exact for clients that know RFC 6266, with
 * `_` in place of other than plain ASCII for those that do not. No part can add a header, a path or an extension.
 */
export function csvHeaders(parts: readonly string[]): Record<string, string> {
  const name = parts
    .map((part) => [...part.toWellFormed()].slice(0, MAX_FILE_NAME_PART).join('').trim())
    .filter((part) => part !== '')
    .join('-')
    // What file systems, shells or readers of right-to-left text take for something else than a letter.
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}/\\:*?"<>|]/gu, '_');
  const ascii = name.replace(/[^\w.\- ]/g, '_');
  // RFC 5987 allows fewer characters than `encodeURIComponent` leaves as they are.
  const encoded = encodeURIComponent(name).replace(
    /['()*!]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return {
    'Content-Type': 'text/csv; charset=utf-8',
    'Content-Disposition': `attachment; filename="${ascii}.csv"; filename*=UTF-8''${encoded}.csv`,
  };
}
