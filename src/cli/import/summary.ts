/** What became of the rows of one kind. `read` is counted apart, and is the sum of the others at the end of an import. */
export type Outcomes = { read: number; accepted: number; repeated: number; rejected: number };

/** Outcomes by kind of row. */
export type ImportSummary = Record<string, Outcomes>;

/** How many rows were repeated or rejected, by reason. */
export type Reasons = Record<string, number>;

/** What became of a file. `dropped` counts what the service left out of what it took. */
export type ImportResult = { summary: ImportSummary; reasons: Reasons; dropped: Reasons };

/** Values of rows do not tell reasons apart. */
const VALUES = /"[^"]*"|(?<=\()-?[\d.,]+(?:e[-+]?\d+)?(?=\))/gi;
const MAX_REASONS = 50;

export function countReason(reasons: Reasons, reason: string, count = 1): void {
  const kind = reason.replaceAll(VALUES, '…').slice(0, 200);
  const isKept = Object.hasOwn(reasons, kind) || Object.keys(reasons).length < MAX_REASONS;
  const name = isKept ? kind : 'other reasons';
  reasons[name] = (reasons[name] ?? 0) + count;
}

/** What a service's answer says that it dropped of something it took. */
export type Warnings = readonly { path: string; message: string }[];

export function countWarnings(dropped: Reasons, warnings: Warnings | undefined): void {
  for (const { path, message } of warnings ?? []) countReason(dropped, `${path} ${message}`);
}

export function addReasons(reasons: Reasons, more: Reasons | undefined): void {
  for (const [reason, count] of Object.entries(more ?? {})) countReason(reasons, reason, count);
}

const linesOf = (reasons: Reasons, label: string) =>
  Object.entries(reasons)
    .sort(([, left], [, right]) => right - left)
    .map(([reason, count]) => `${count.toLocaleString('en')} ${label}: ${reason}`);

/** A line per reason, the most frequent first; empty text if there are none. */
export const reasonsText = ({ reasons, dropped }: Pick<ImportResult, 'reasons' | 'dropped'>): string =>
  [...linesOf(reasons, 'not taken'), ...linesOf(dropped, 'taken with a warning')].join('\n');

const NONE: Outcomes = { read: 0, accepted: 0, repeated: 0, rejected: 0 };

export function addTo(summary: ImportSummary, kind: string, counts: Partial<Outcomes>): void {
  const known = summary[kind] ?? { ...NONE };
  summary[kind] = known;
  for (const name of OUTCOMES) known[name] += counts[name] ?? 0;
}

const OUTCOMES = ['read', 'accepted', 'repeated', 'rejected'] as const;

export const totalOf = (summary: ImportSummary): Outcomes => {
  const total: ImportSummary = {};
  for (const counts of Object.values(summary)) addTo(total, 'total', counts);
  return total.total ?? NONE;
};

/** The summary as a table of text with a total. */
export function summaryText(summary: ImportSummary): string {
  const rows = [
    ['', ...OUTCOMES],
    ...[...Object.entries(summary), ['total', totalOf(summary)] as const].map(([kind, counts]) => [
      kind,
      ...OUTCOMES.map((name) => counts[name].toLocaleString('en')),
    ]),
  ];
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows
    .map((row) =>
      row.map((cell, at) => (at === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[at] ?? 0))),
    )
    .map((row) => row.join('  ').trimEnd())
    .join('\n');
}
