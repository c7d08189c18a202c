import Papa from 'papaparse';
import type { Fault } from '#http';
import { decodeCostFile } from './decode.ts';
import type { CostMap } from './layout.ts';
import { type CostFileOptions, type ParsedCosts, parseCostFile } from './read.ts';
import { isOldWorkbook, isWorkbook, readWorkbook } from './spreadsheet.ts';

// Reads a cost file from its bytes: text in UTF-8 or UTF-16, or a workbook. The Worker, the command and the dashboard's script share it.

/** How much of a workbook is read: the rows of a sheet, with titles, totals and notes, and the megabytes that it unpacks to. */
export type FileBounds = { sheetRows: number; unpackedMb: number };

/** What one request has at most, in one transaction. Larger files are split by day: see `uploadByDay`. */
export const FILE_BYTES = 8 * 1024 * 1024;
export const MAX_FILE_ROWS = 50_000;

/**
 * Titles, totals and notes come on top of the rows. 50,000 rows of an export unpack to some 35 MB; an isolate has 128 MB for them and for what is
 * read from them.
 */
export const FILE_BOUNDS: FileBounds = { sheetRows: MAX_FILE_ROWS + 1_000, unpackedMb: 48 };

/** Reads a cost file: text, or the first readable sheet of a workbook. A fault is about the file as a whole. */
async function readCostFile(
  file: string | Uint8Array,
  options: CostFileOptions,
  bounds: FileBounds,
): Promise<ParsedCosts | Fault> {
  if (typeof file !== 'string' && isOldWorkbook(file)) {
    return {
      path: 'The file',
      message: 'is an old or locked Excel file: save it as .xlsx without a password, or as CSV',
    };
  }
  if (typeof file !== 'string' && isWorkbook(file)) {
    const sheets = await readWorkbook(file, bounds);
    if (sheets === null)
      return { path: 'The file', message: 'cannot be read as .xlsx: save it again, or as CSV' };
    if (sheets === 'too_large')
      return {
        path: 'The file',
        message: `unpacks to more than ${bounds.unpackedMb} MB: export fewer days, or as CSV`,
      };
    const read = sheets.map((sheet) => parseCostFile(sheet, options));
    return (
      read.find(({ unknownHeadings }) => unknownHeadings === null) ?? read[0] ?? parseCostFile([], options)
    );
  }
  const text = typeof file === 'string' ? file : decodeCostFile(file);
  if (text === null)
    return { path: 'The file', message: 'must be in UTF-8 or UTF-16, or an Excel file (.xlsx)' };
  return parseCostFile(text, options);
}

/**
 * Reads a cost file, and if nobody knows its headings, by the columns that `recall` has for such headings; null if it has none. Columns in the options
 * go before. `headings` are those that nobody knows, else null.
 */
export async function readByColumns(
  file: string | Uint8Array,
  options: CostFileOptions,
  bounds: FileBounds,
  recall: (headings: readonly string[]) => Promise<CostMap | null>,
): Promise<{ parsed: ParsedCosts | Fault; headings: readonly string[] | null }> {
  const unmapped = await readCostFile(file, { ...options, map: null }, bounds);
  const headings = ('rows' in unmapped && unmapped.unknownHeadings) || null;
  const map = options.map ?? (headings && (await recall(headings)));
  return { parsed: map ? await readCostFile(file, { ...options, map }, bounds) : unmapped, headings };
}

/** The text of a cost file, for a form in which it is sent again. Empty if it has none. */
export async function costFileText(file: Uint8Array, bounds: FileBounds): Promise<string> {
  if (!isWorkbook(file)) return decodeCostFile(file) ?? '';
  const sheets = await readWorkbook(file, bounds);
  const [sheet = []] = sheets === 'too_large' || sheets === null ? [] : sheets;
  return Papa.unparse(sheet.map((cells) => [...cells]));
}

/** Faults of rows, such as that of `rows.3.amount`, with the line of the file that the row came from. */
export const faultsInFile = (faults: readonly Fault[], lines: readonly number[]): Fault[] =>
  faults.map(({ path, message }) => {
    const [, row, field] = /^rows\.(\d+)(?:\.(.*))?$/.exec(path) ?? [];
    return row === undefined
      ? { path, message }
      : { path: `Line ${lines[Number(row)] ?? '?'}:${field === undefined ? '' : ` ${field}`}`, message };
  });
