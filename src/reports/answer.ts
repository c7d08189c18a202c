import type { AppContext } from '#http';
import { type Cell, csvHeaders, toCsv } from '#lib/csv';
import type { Unconverted } from './money.ts';

type Report = {
  data: readonly Record<string, unknown>[];
  total_rows?: number;
  currency?: string;
  timezone: string;
  unconverted?: Unconverted;
  unconverted_currencies?: string[];
  rate_day?: string;
  devices_with_incomplete_history?: number;
};

/** One row for each entry of `days`, which is a table within the row. */
function flatten(row: Record<string, unknown>): Record<string, Cell>[] {
  const { days, ...rest } = row as { days?: Record<string, Record<string, Cell>> } & Record<string, Cell>;
  if (!days) return [rest];
  return Object.entries(days).map(([day, values]) => ({ ...rest, day: Number(day), ...values }));
}

/** The columns of all rows: some have an exact amount beside a number, which then is a column of the table. */
function columnsOf(rows: readonly Record<string, Cell>[], columns: readonly string[]): readonly string[] {
  if (rows.length === 0) return columns;
  const found = new Set(rows.flatMap((row) => Object.keys(row)));
  // The row that sums up the rest comes last, with a column that says so.
  return [...new Set([rows[0], rows.at(-1)].flatMap((row) => Object.keys(row ?? {})))]
    .filter((column) => !column.endsWith('_exact'))
    .flatMap((column) => (found.has(`${column}_exact`) ? [column, `${column}_exact`] : [column]));
}

/** What a report is about, for the name of its file. */
export type ReportSubject = {
  application: { name: string };
  from: string;
  to: string;
  /** The report contains every event accepted before this time (epoch milliseconds); null if unknown. */
  countedThrough: number | null;
};

/**
 * Answers a report as JSON, or its rows as a CSV file with what stands beside them in headers. `columns` name a table without
 * rows.
 */
export function answerReport(
  c: AppContext,
  format: 'json' | 'csv',
  report: Report,
  columns: readonly string[],
  { application, from, to, countedThrough }: ReportSubject,
): Response {
  const through = countedThrough === null ? null : new Date(countedThrough).toISOString();
  if (format === 'json') return c.json({ ...report, counted_through: through });
  const name = c.req.path.slice(c.req.path.lastIndexOf('/') + 1);
  for (const [header, value] of Object.entries(csvHeaders([name, application.name, from, to]))) {
    c.header(header, value);
  }
  c.header('X-Timezone', report.timezone);
  if (through) c.header('X-Counted-Through', through);
  if (report.currency) c.header('X-Currency', report.currency);
  if (report.unconverted) c.header('X-Unconverted', JSON.stringify(report.unconverted));
  if (report.rate_day) c.header('X-Rate-Day', report.rate_day);
  if (report.unconverted_currencies) {
    c.header('X-Unconverted-Currencies', report.unconverted_currencies.join(','));
  }
  if (report.devices_with_incomplete_history !== undefined) {
    c.header('X-Devices-With-Incomplete-History', String(report.devices_with_incomplete_history));
  }
  if (report.total_rows !== undefined) c.header('X-Total-Rows', String(report.total_rows));
  const rows = report.data.flatMap(flatten);
  return c.body(toCsv(columnsOf(rows, columns), rows));
}
