import type { Caller } from '#audit';
import { AppError, type Fault, toFaults } from '#http';
import type { ApplicationRow } from '#teams';
import type { CostFileSaved } from './answers.ts';
import type { CostFileOptions } from './cost-files/read.ts';
import { FILE_BOUNDS, faultsInFile, MAX_FILE_ROWS, readByColumns } from './cost-files/read-file.ts';
import { hashOfHeadings, recallCostColumns, rememberCostColumns } from './cost-files/remembered-columns.ts';
import { CostRows, saveCosts } from './costs.ts';

/** `unknownHeadings`: the file's headings, if nobody knows what they mean. */
type CostFileOutcome =
  | { saved: CostFileSaved; faults: null }
  | { saved: null; faults: readonly Fault[]; unknownHeadings: readonly string[] | null };

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
  const known = await readByColumns(file, options, FILE_BOUNDS, (headings) =>
    recallCostColumns(caller.db, application.id, headings),
  );
  const { parsed } = known;
  if (!('rows' in parsed)) return refuse([parsed]);
  const { format, network, rows, lines, read, skipped, ignored, faults } = parsed;
  if (faults.length > 0) return refuse(faults, parsed.unknownHeadings);
  if (rows.length === 0) return refuse([{ path: 'The file', message: 'has no rows below its headings' }]);
  if (rows.length > MAX_FILE_ROWS) {
    const message = `has ${rows.length} rows, of which ${MAX_FILE_ROWS} are taken at once: upload fewer days, or with the page Costs or npm run costs, which split it by day`;
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
    return { saved: { ...saved, read, skipped, ignored_columns: ignored, format, network }, faults: null };
  } catch (error) {
    if (!(error instanceof AppError) || error.details.length === 0) throw error;
    return refuse(faultsInFile(error.details, lines));
  }
}
