import type { AppContext } from '#http';
import { type Cell, toCsv } from '#lib/csv';
import type { Unconverted } from './money.ts';

type Report = {
  data: readonly Record<string, unknown>[];
  currency?: string;
  timezone: string;
  unconverted?: Unconverted;
};

/** One row for each entry of `days`, which is a table within the row. */
function flatten(row: Record<string, unknown>): Record<string, Cell>[] {
  const { days, ...rest } = row as { days?: Record<string, Record<string, Cell>> } & Record<string, Cell>;
  if (!days) return [rest];
  return Object.entries(days).map(([day, values]) => ({ ...rest, day: Number(day), ...values }));
}

/** The columns of all rows: some have an exact amount beside a number, which then is a column of the table. */
function columnsOf(rows: readonly Record<string, Cell>[], columns: readonly string[]): readonly string[] {
  const [first] = rows;
  if (!first) return columns;
  const found = new Set(rows.flatMap((row) => Object.keys(row)));
  return Object.keys(first)
    .filter((column) => !column.endsWith('_exact'))
    .flatMap((column) => (found.has(`${column}_exact`) ? [column, `${column}_exact`] : [column]));
}

/** Answers a report as JSON, or its rows as CSV with what stands beside them in headers. `columns` name a table without rows. */
export function answerReport(
  c: AppContext,
  format: 'json' | 'csv',
  report: Report,
  columns: readonly string[],
): Response {
  if (format === 'json') return c.json(report);
  const name = c.req.path.slice(c.req.path.lastIndexOf('/') + 1);
  c.header('Content-Type', 'text/csv; charset=utf-8');
  c.header('Content-Disposition', `attachment; filename="${name}.csv"`);
  c.header('X-Timezone', report.timezone);
  if (report.currency) c.header('X-Currency', report.currency);
  if (report.unconverted) c.header('X-Unconverted', JSON.stringify(report.unconverted));
  const rows = report.data.flatMap(flatten);
  return c.body(toCsv(columnsOf(rows, columns), rows));
}
