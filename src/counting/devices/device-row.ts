import {
  ofDimensions,
  SEGMENT_DIMENSIONS,
  type Segment,
  type SegmentDimension,
  valuesOfSegment,
} from '#catalogue';
import type { DeviceHistory, StoredRevenue, StoredSteps } from '#rollup';

// A device on its page. A page names the columns of its rows, so that the code may add, remove and move columns.

/** A device as its page stores it. Its history is stored next to it, because counting only reads that to add to it. */
export type DeviceFactsRow = [
  id: string,
  /** Empty for an organic device. */
  creativeId: string,
  /** Day sets, in days since acquisition: days with any event, day numbers that count for retention, days with a purchase. */
  activeDays: string,
  activeAges: string,
  paidDays: string,
  /** Counted revenue and the running total that the client keeps, for ads and for purchases: see `totals.ts`. */
  adTotals: string | null,
  purchaseTotals: string | null,
  /** What only further events need. Empty for devices that are erased or not counted yet. */
  launches: string,
  activeVersions: string,
  paidVersions: string,
  /** Its segment at its acquisition: see `valuesOfSegment`. */
  ...segment: string[],
];

const OWN_COLUMNS = [
  'id',
  'creative_id',
  'active_days',
  'active_ages',
  'paid_days',
  'ad_totals',
  'purchase_totals',
  'launches',
  'active_versions',
  'paid_versions',
];
const COLUMNS: readonly string[] = [...OWN_COLUMNS, ...SEGMENT_DIMENSIONS];
const NULLABLE: ReadonlySet<string> = new Set(['ad_totals', 'purchase_totals', 'steps', 'revenue']);

/** The index of a dimension in a row. */
export const columnOfDimension = (name: SegmentDimension): number =>
  OWN_COLUMNS.length + SEGMENT_DIMENSIONS.indexOf(name);

export const segmentOfRow = (row: DeviceFactsRow): Segment =>
  ofDimensions(SEGMENT_DIMENSIONS, (_, index) => String(row[OWN_COLUMNS.length + index] ?? ''));

/** The values of a row's segment as one text. */
export const segmentTextOfRow = (row: DeviceFactsRow): string => row.slice(OWN_COLUMNS.length).join('\0');

/** The row of a device of which nothing is counted yet. */
export const emptyRow = (id: string, creativeId: string, segment: Segment): DeviceFactsRow => [
  ...([id, creativeId, '', '', '', null, null, '', '', ''] as const),
  ...valuesOfSegment(segment),
];

/** What stays of a device once it is erased: all that figures are made of. */
export const anonymousRow = (row: DeviceFactsRow, id: string): DeviceFactsRow => {
  const [, creativeId, activeDays, activeAges, paidDays, ad, purchase] = row;
  const segment = row.slice(OWN_COLUMNS.length).map(String);
  return [id, creativeId, activeDays, activeAges, paidDays, ad, purchase, '', '', '', ...segment];
};

type StoredRows = { columns: string[]; rows: unknown[][] };

/** The text of a page's rows. */
export const writeRows = (rows: readonly DeviceFactsRow[]): string =>
  JSON.stringify({ columns: COLUMNS, rows });

/** Reads what `writeRows` wrote, whichever columns there were then. Missing ones are empty, unknown ones are left out. */
export const readRows = (text: string): DeviceFactsRow[] => readColumns(text, COLUMNS) as DeviceFactsRow[];

/** Funnel steps with their times, and revenue by age. */
export type HistoryRow = [steps: StoredSteps, revenue: StoredRevenue];

/** The history of a device; that of one without a row is empty. */
export const historyOf = ([steps, revenue]: HistoryRow = [null, null]): DeviceHistory => ({ steps, revenue });

const HISTORY_COLUMNS: readonly string[] = ['steps', 'revenue'];

/** The text of the histories of a page. */
export const writeHistories = (rows: readonly HistoryRow[]): string =>
  JSON.stringify({ columns: HISTORY_COLUMNS, rows });

/** Reads what `writeHistories` wrote, in the same way as `readRows`. */
export const readHistories = (text: string): HistoryRow[] =>
  readColumns(text, HISTORY_COLUMNS) as HistoryRow[];

function readColumns(text: string, wanted: readonly string[]): StoredRows['rows'] {
  const { columns, rows }: StoredRows = JSON.parse(text);
  if (columns.length === wanted.length && columns.every((name, index) => name === wanted[index])) return rows;
  const places = wanted.map((name) => ({
    at: columns.indexOf(name),
    absent: NULLABLE.has(name) ? null : '',
  }));
  return rows.map((row) => places.map(({ at, absent }) => row[at] ?? absent));
}
