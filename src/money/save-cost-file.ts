import type { Caller } from '#audit';
import { AppError, type Fault, toFaults } from '#http';
import type { ApplicationRow } from '#teams';
import type { CostsSaved } from './answers.ts';
import { type CostFileOptions, decodeCostFile, parseCostFile } from './cost-file.ts';
import type { CostFormat } from './cost-headings.ts';
import { Costs, saveCosts } from './costs.ts';

type CostFileOutcome =
  | { saved: CostsSaved; format: CostFormat | null; faults: null }
  | { saved: null; faults: readonly Fault[] };

/**
 * Reads and stores a cost file, whichever way it arrives: whole, or not at all. Faults name the line of the file. Idempotent, as `saveCosts`
 * is.
 */
export async function saveCostFile(
  caller: Caller,
  application: ApplicationRow,
  file: string | Uint8Array,
  options: CostFileOptions,
): Promise<CostFileOutcome> {
  const text = typeof file === 'string' ? file : decodeCostFile(file);
  if (text === null) {
    return { saved: null, faults: [{ path: 'The file', message: 'must be in UTF-8 or UTF-16' }] };
  }
  const { format, rows, lines, faults } = parseCostFile(text, options);
  if (faults.length > 0) return { saved: null, faults };
  const checked = Costs.safeParse({ application_id: application.id, rows });
  if (!checked.success) return { saved: null, faults: faultsInFile(toFaults(checked.error), lines) };
  try {
    return { saved: await saveCosts(caller, application, checked.data.rows), format, faults: null };
  } catch (error) {
    if (!(error instanceof AppError) || error.details.length === 0) throw error;
    return { saved: null, faults: faultsInFile(error.details, lines) };
  }
}

/** Faults of rows, such as that of `rows.3.amount`, with the line of the file that the row came from. */
const faultsInFile = (faults: readonly Fault[], lines: readonly number[]): Fault[] =>
  faults.map(({ path, message }) => {
    const [, row, field] = /^rows\.(\d+)\.(.*)$/.exec(path) ?? [];
    return row === undefined
      ? { path, message }
      : { path: `Line ${lines[Number(row)] ?? '?'}: ${field}`, message };
  });
