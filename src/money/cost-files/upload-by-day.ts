import type { Fault } from '#http';
import { nanosOf, toNanos, toShortDecimal } from '#lib/money';
import type { CostMap } from './layout.ts';
import type { CostFileOptions, ParsedCosts, UploadedRow } from './read.ts';
import { FILE_BYTES, type FileBounds, faultsInFile, MAX_FILE_ROWS, readByColumns } from './read-file.ts';

export { type CostMap, parseCostMap } from './layout.ts';

// Uploads of files that are too large for one request, for the command and the dashboard's script, which read such a file themselves. A request has
// whole days, and an upload replaces rows of its own days only, so the requests together store what one of the whole file would.

/** A day beyond these is sent on its own. */
const ROWS_PER_PART = 5_000;
const CHARACTERS_PER_PART = 1_000_000;

/** A sheet of Excel has up to 2^20 rows. */
const LOCAL_BOUNDS: FileBounds = { sheetRows: 2 ** 20, unpackedMb: 1_000 };

/** Of an answer of `PUT /v1/costs`. */
export type SentRows = {
  rows: number;
  replaced: number;
  unmatched: number;
  amounts: readonly { currency: string; amount: number; amount_exact?: string | undefined }[];
};

/** How requests reach the service. Each method throws an error whose message is for people if it does not answer. */
export type CostService = {
  /** Checks rows, or stores them, as `PUT /v1/costs` does. */
  send(rows: readonly UploadedRow[], dryRun: boolean): Promise<SentRows | { faults: readonly Fault[] }>;
  /** Which column is which in files of these headings, as someone chose before; null if nobody did. */
  recall(headings: readonly string[]): Promise<CostMap | null>;
  remember(headings: readonly string[], map: CostMap): Promise<void>;
};

/** Days from the first to the last, and how many rows they have. Null if there are none. */
export type DaysAndRows = { from: string; to: string; rows: number } | null;

type UploadTotals = {
  rows: number;
  replaced: number;
  unmatched: number;
  amounts: { currency: string; amount: string }[];
};

/**
 * `refused`: nothing is stored. `broken`: the first days are stored, and each of the others is as it was before, or stored as well if only the answer
 * was lost; no day is stored in part. Uploading the same file again completes it.
 */
export type UploadOutcome =
  | { outcome: 'stored'; totals: UploadTotals }
  | { outcome: 'refused'; faults: readonly Fault[] }
  | { outcome: 'broken'; reason: string; stored: DaysAndRows; missing: DaysAndRows };

/** No file of so few bytes has more rows than one request takes, so that reading it tells nothing. */
export const SMALL_BYTES = 64 * 1024;

/** A file as it was read, and its headings if no format knows them. */
export type LargeFile = { parsed: ParsedCosts | Fault; headings: readonly string[] | null };

/**
 * Reads a file that is too large for one request; null for one that is not, or that the service itself would refuse. Headings that nobody knows are
 * read by the columns that were chosen for such headings.
 */
export async function readLargeFile(
  file: Uint8Array,
  options: CostFileOptions,
  recall: CostService['recall'],
): Promise<LargeFile | null> {
  const { parsed, headings } = await readByColumns(file, options, LOCAL_BOUNDS, recall);
  const hasManyRows = 'rows' in parsed && parsed.faults.length === 0 && parsed.rows.length > MAX_FILE_ROWS;
  return hasManyRows || file.length > FILE_BYTES ? { parsed, headings } : null;
}

type DaysPart = { rows: UploadedRow[]; lines: number[]; days: string[]; characters: number };

/** Rows in parts of whole days, the first day first. */
export function partsByDay({ rows, lines }: Pick<ParsedCosts, 'rows' | 'lines'>): DaysPart[] {
  const days = new Map<string, DaysPart>();
  for (const [index, row] of rows.entries()) {
    const date = String(row.date);
    const part = days.get(date) ?? { rows: [], lines: [], days: [date], characters: 0 };
    part.rows.push(row);
    part.lines.push(lines[index] ?? 0);
    part.characters += JSON.stringify(row).length;
    days.set(date, part);
  }
  const parts: DaysPart[] = [];
  for (const [, day] of [...days].sort(([left], [right]) => (left < right ? -1 : 1))) {
    const last = parts.at(-1);
    const fits =
      last !== undefined &&
      last.rows.length + day.rows.length <= ROWS_PER_PART &&
      last.characters + day.characters <= CHARACTERS_PER_PART;
    if (!fits) {
      parts.push(day);
      continue;
    }
    for (const [index, row] of day.rows.entries()) {
      last.rows.push(row);
      last.lines.push(day.lines[index] ?? 0);
    }
    last.days.push(...day.days);
    last.characters += day.characters;
  }
  return parts;
}

function daysOf(parts: readonly DaysPart[]): DaysAndRows {
  const days = parts.flatMap((part) => part.days);
  const [from, to] = [days[0], days.at(-1)];
  if (from === undefined || to === undefined) return null;
  return { from, to, rows: parts.reduce((sum, part) => sum + part.rows.length, 0) };
}

function totalsOf(answers: readonly SentRows[]): UploadTotals {
  const sums = new Map<string, bigint>();
  for (const { currency, amount, amount_exact } of answers.flatMap(({ amounts }) => amounts)) {
    const nanos = nanosOf(amount_exact ?? '') ?? toNanos(amount);
    sums.set(currency, (sums.get(currency) ?? 0n) + nanos);
  }
  const sum = (field: 'rows' | 'replaced' | 'unmatched') =>
    answers.reduce((total, answer) => total + answer[field], 0);
  return {
    ...{ rows: sum('rows'), replaced: sum('replaced'), unmatched: sum('unmatched') },
    amounts: [...sums].sort().map(([currency, nanos]) => ({ currency, amount: toShortDecimal(nanos) })),
  };
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** The faults that a refusal of `PUT /v1/costs` names in its message. */
export const faultsInMessage = (message: string): Fault[] =>
  message.split(/; (?=rows[. ])/).map((text) => {
    const [, path = '', what = text] = /^(rows(?:\.\d+(?:\.\w+)?)?) (.*)$/s.exec(text) ?? [];
    return { path, message: what };
  });

/** What the service says of a part, as if it had seen the file. */
const faultsOfPart = (faults: readonly Fault[], { lines, days }: DaysPart): Fault[] =>
  faultsInFile(faults, lines).map(({ path, message }) =>
    path === 'rows' ? { path: `${days[0]} to ${days.at(-1)}:`, message } : { path, message },
  );

/**
 * Sends the rows of a file by days: all are checked first, so that a file with a wrong row is refused as a whole, and then stored, the first day
 * first. `onProgress` gets the share that is done, from 0 to 1, and whether rows are checked or stored. `map`, where someone chose the columns, is
 * remembered. Idempotent, as the requests are.
 */
export async function uploadByDay(
  { parsed, headings }: LargeFile,
  map: CostMap | null,
  service: CostService,
  onProgress: (share: number, phase: 'check' | 'store') => void,
): Promise<UploadOutcome> {
  if (!('rows' in parsed)) return { outcome: 'refused', faults: [parsed] };
  if (parsed.faults.length > 0) return { outcome: 'refused', faults: parsed.faults };
  const parts = partsByDay(parsed);
  const steps = [true, false].flatMap((dryRun) => parts.map((part, index) => ({ dryRun, part, index })));
  const answers: SentRows[] = [];
  let done = 0;
  for (const { dryRun, part, index } of steps) {
    onProgress(done / (2 * parsed.rows.length), dryRun ? 'check' : 'store');
    const answer = await service
      .send(part.rows, dryRun)
      .catch((error) => ({ faults: [{ path: '', message: messageOf(error) }] }));
    if ('faults' in answer) {
      const faults = faultsOfPart(answer.faults, part);
      if (dryRun) return { outcome: 'refused', faults };
      const reason = faults.map(({ path, message }) => `${path} ${message}`.trim()).join('; ');
      return {
        outcome: 'broken',
        reason,
        stored: daysOf(parts.slice(0, index)),
        missing: daysOf(parts.slice(index)),
      };
    }
    if (!dryRun) answers.push(answer);
    done += part.rows.length;
  }
  if (map && headings) await service.remember(headings, map).catch(() => undefined);
  onProgress(1, 'store');
  return { outcome: 'stored', totals: totalsOf(answers) };
}
