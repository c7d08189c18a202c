import Papa from 'papaparse';
import type { Caller } from '#audit';
import type { Database } from '#db';
import { AppError, type Fault, toFaults } from '#http';
import type { ApplicationRow } from '#teams';
import type { CostFileSaved } from './answers.ts';
import { decodeCostFile } from './cost-files/decode.ts';
import { type CostFileOptions, type ParsedCosts, parseCostFile } from './cost-files/read.ts';
import { hashOfHeadings, recallCostColumns, rememberCostColumns } from './cost-files/remembered-columns.ts';
import { isOldWorkbook, isWorkbook, MAX_UNPACKED_MB, readWorkbook } from './cost-files/spreadsheet.ts';
import { CostRows, MAX_FILE_ROWS, saveCosts } from './costs.ts';

/** Titles, totals and notes come on top of the rows. */
const MAX_SHEET_ROWS = MAX_FILE_ROWS + 1_000;

/** `unknownHeadings`: the file's headings, if nobody knows what they mean. */
type CostFileOutcome =
  | { saved: CostFileSaved; faults: null }
  | { saved: null; faults: readonly Fault[]; unknownHeadings: readonly string[] | null };

/** Reads a cost file: text in UTF-8 or UTF-16, or the first readable sheet of a workbook. */
async function readCostFile(
  file: string | Uint8Array,
  options: CostFileOptions,
): Promise<ParsedCosts | Fault> {
  if (typeof file !== 'string' && isOldWorkbook(file)) {
    return {
      path: 'The file',
      message: 'is an old or locked Excel file: save it as .xlsx without a password, or as CSV',
    };
  }
  if (typeof file !== 'string' && isWorkbook(file)) {
    const sheets = await readWorkbook(file, MAX_SHEET_ROWS);
    if (sheets === null)
      return { path: 'The file', message: 'cannot be read as .xlsx: save it again, or as CSV' };
    if (sheets === 'too_large')
      return {
        path: 'The file',
        message: `unpacks to more than ${MAX_UNPACKED_MB} MB: export fewer days, or as CSV`,
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

/** The text of a cost file, for a form in which it is sent again. Empty if it has none. */
export async function costFileText(file: Uint8Array): Promise<string> {
  if (!isWorkbook(file)) return decodeCostFile(file) ?? '';
  const sheets = await readWorkbook(file, MAX_SHEET_ROWS);
  const [sheet = []] = sheets === 'too_large' || sheets === null ? [] : sheets;
  return Papa.unparse(sheet.map((cells) => [...cells]));
}

/** Reads a file, and if nobody knows its headings, by the columns that were chosen for such headings. `headings` are those, else null. */
async function readKnownColumns(
  db: Database,
  applicationId: string,
  file: string | Uint8Array,
  options: CostFileOptions,
): Promise<{ parsed: ParsedCosts | Fault; headings: readonly string[] | null }> {
  const unmapped = await readCostFile(file, { ...options, map: null });
  const headings = ('rows' in unmapped && unmapped.unknownHeadings) || null;
  const map = options.map ?? (headings && (await recallCostColumns(db, applicationId, headings)));
  return { parsed: map ? await readCostFile(file, { ...options, map }) : unmapped, headings };
}

/**
 * Reads and stores a cost file, whichever way it arrives: whole, or not at all. Faults name the line of the file. Idempotent, as `saveCosts`
 * is. Columns that `options.map` names for headings that nobody knows are remembered for the application.
 */
export async function saveCostFile(
  caller: Caller,
  application: ApplicationRow,
  file: string | Uint8Array,
  options: CostFileOptions,
): Promise<CostFileOutcome> {
  const refuse = (faults: readonly Fault[], unknownHeadings: readonly string[] | null = null) =>
    ({ saved: null, faults, unknownHeadings }) as const;
  const known = await readKnownColumns(caller.db, application.id, file, options);
  const { parsed } = known;
  if (!('rows' in parsed)) return refuse([parsed]);
  const { format, network, rows, lines, read, skipped, faults } = parsed;
  if (faults.length > 0) return refuse(faults, parsed.unknownHeadings);
  if (rows.length === 0) return refuse([{ path: 'The file', message: 'has no rows below its headings' }]);
  if (rows.length > MAX_FILE_ROWS) {
    const message = `has ${rows.length} rows, of which ${MAX_FILE_ROWS} are taken at once: upload fewer days`;
    return refuse([{ path: 'The file', message }]);
  }
  const checked = CostRows.safeParse({ rows });
  if (!checked.success) return refuse(faultsInFile(toFaults(checked.error), lines));
  try {
    const { headings } = known;
    const remembered =
      options.map && headings
        ? [rememberCostColumns(caller, application.id, await hashOfHeadings(headings), options.map)]
        : [];
    const saved = await saveCosts(caller, application, checked.data.rows, { alongside: remembered });
    return { saved: { ...saved, read, skipped, format, network }, faults: null };
  } catch (error) {
    if (!(error instanceof AppError) || error.details.length === 0) throw error;
    return refuse(faultsInFile(error.details, lines));
  }
}

/** Faults of rows, such as that of `rows.3.amount`, with the line of the file that the row came from. */
const faultsInFile = (faults: readonly Fault[], lines: readonly number[]): Fault[] =>
  faults.map(({ path, message }) => {
    const [, row, field] = /^rows\.(\d+)(?:\.(.*))?$/.exec(path) ?? [];
    return row === undefined
      ? { path, message }
      : { path: `Line ${lines[Number(row)] ?? '?'}:${field === undefined ? '' : ` ${field}`}`, message };
  });
