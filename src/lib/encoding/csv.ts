import Papa from 'papaparse';
import { readDecimal } from '../decimal.ts';

export type CsvCell = string | number | boolean | null | undefined;

// Spreadsheets run a text cell that begins with one of these as a formula; full-width forms too. If the list separator is a semicolon
// or a tab, they ignore quotes in the middle of a line, so a new cell begins after each separator and each line break within the
// text. Source: OWASP, "CSV Injection".
const LEADING = /^(?=[\t\r\n]|[ \u00a0\u3000]*[=+\-@＝＋－＠])/;
const WITHIN = /([;\t\r\n])(?=[ \u00a0\u3000]*[=+\-@＝＋－＠])/g;

/** Without it, Excel reads a file in the machine's own code page, not as UTF-8. */
const BYTE_ORDER_MARK = '\ufeff';

/** The longest part of a file name, in characters. File systems allow 255 bytes for the whole name. */
const MAX_FILE_NAME_PART = 60;

/** Not every reader of CSV knows exponents, which JavaScript writes below a millionth. */
const toPlain = (cell: number): CsvCell =>
  Math.abs(cell) < 1e-6 && Number.isFinite(cell) ? readDecimal(String(cell)) : cell;

function toInert(cell: CsvCell): CsvCell {
  if (typeof cell === 'string') return cell.replace(WITHIN, "$1'").replace(LEADING, "'");
  return typeof cell === 'number' ? toPlain(cell) : cell;
}

/**
 * CSV (RFC 4180, in UTF-8 with a byte order mark) with a header line. It is safe to open in a spreadsheet: text that would run as a
 * formula, even after a semicolon or a line break, is prefixed with an apostrophe. Numbers are unchanged, so -5 stays -5; null is an
 * empty field.
 */
export function toCsv(
  columns: readonly string[],
  rows: readonly Readonly<Record<string, CsvCell>>[],
): string {
  return BYTE_ORDER_MARK + linesOf([columns, ...rows.map((row) => columns.map((column) => row[column]))]);
}

/** The lines of a file, each with its end. */
function linesOf(lines: readonly (readonly CsvCell[])[]): string {
  // Also quote the list separator of other locales.
  const quotes = (cell: unknown) => typeof cell === 'string' && cell.includes(';');
  const inert = lines.map((line) => line.map(toInert));
  return `${Papa.unparse(inert, { newline: '\r\n', quotes })}\r\n`;
}

/** These take a few milliseconds. */
const ROWS_PER_TURN = 250;

/** `toCsv` for any number of rows: `giveWay` is called between some of them, so that others have their turn. */
export async function toCsvInTurns(
  columns: readonly string[],
  rows: readonly Readonly<Record<string, CsvCell>>[],
  giveWay: () => Promise<void>,
): Promise<string> {
  const parts = [toCsv(columns, rows.slice(0, ROWS_PER_TURN))];
  for (let start = ROWS_PER_TURN; start < rows.length; start += ROWS_PER_TURN) {
    await giveWay();
    const some = rows.slice(start, start + ROWS_PER_TURN);
    parts.push(linesOf(some.map((row) => columns.map((column) => row[column]))));
  }
  return parts.join('');
}

/**
 * The headers of a CSV download. The file name joins the non-empty `parts`: exact for clients that support RFC 6266; for others, `_`
 * replaces everything but plain ASCII. No part can inject a header, a path or an extension.
 */
export function csvHeaders(parts: readonly string[]): Record<string, string> {
  const name = parts
    .map((part) => [...part.toWellFormed()].slice(0, MAX_FILE_NAME_PART).join('').trim())
    .filter((part) => part !== '')
    .join('-')
    // Characters that file systems, shells or right-to-left text give a special meaning.
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}/\\:*?"<>|]/gu, '_');
  const ascii = name.replace(/[^\w.\- ]/g, '_');
  // RFC 5987 requires escaping some characters that `encodeURIComponent` leaves unchanged.
  const encoded = encodeURIComponent(name).replace(
    /['()*!]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return {
    'Content-Type': 'text/csv; charset=utf-8',
    'Content-Disposition': `attachment; filename="${ascii}.csv"; filename*=UTF-8''${encoded}.csv`,
  };
}
