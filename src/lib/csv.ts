export type Cell = string | number | boolean | null | undefined;

// A text cell that begins so would be run as a formula. Source: OWASP, "CSV Injection".
const FORMULA = /^[=+\-@\t\r]/;

function toField(cell: Cell): string {
  if (cell === null || cell === undefined) return '';
  if (typeof cell !== 'string') return String(cell);
  const inert = FORMULA.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}

/**
 * CSV (RFC 4180) with a header line, safe to open in a spreadsheet: text that would be a formula is led by an apostrophe.
 * Numbers stay as they are, so -5 stays -5; null is an empty field.
 */
export function toCsv(columns: readonly string[], rows: readonly Readonly<Record<string, Cell>>[]): string {
  const lines = [columns.map(toField), ...rows.map((row) => columns.map((column) => toField(row[column])))];
  return lines.map((fields) => `${fields.join(',')}\r\n`).join('');
}
