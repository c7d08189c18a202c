const SKIPPED_SHOWN = 10;

type StoredFile = {
  rows: number;
  replaced: number;
  unmatched: number;
  amounts: readonly { currency: string; amount: number | string }[];
  format: string | null;
  skipped: readonly { line: number; reason: string }[];
  ignored: readonly string[];
};

/** What the page Costs shows of an upload, for its address after it. */
export const storedQuery = ({
  rows,
  replaced,
  unmatched,
  amounts,
  format,
  skipped,
  ignored,
}: StoredFile) => ({
  stored: String(rows),
  replaced: String(replaced),
  unknown: String(unmatched),
  format: format ?? '',
  ignored: String(ignored.length),
  sums: amounts.map(({ currency, amount }) => `${currency}:${amount}`).join('_'),
  skipped: skipped
    .slice(0, SKIPPED_SHOWN)
    .map(({ line, reason }) => `${line}:${reason}`)
    .join('_'),
});
