import {
  type Amounts,
  columnsOf as columnsOfMeasure,
  isMoney,
  MEASURES,
  ROLLUP_KEYS,
  type RollupTable,
} from '#catalogue';

// The rollup tables as counters fill them: every measure is added to what the row holds already.
// Names are columns, so the statements are made from the catalogue and from nothing a caller sends.

export const ROLLUP_TABLES = Object.keys(MEASURES) as RollupTable[];

/**
 * The tables that have totals: the same columns, in a row for all creatives together. Reports that name no creative read these: there
 * are as many rows a day as there are currencies or networks, and not as many as there are creatives.
 */
export const TOTALS = {
  rollup_daily: 'rollup_daily_totals',
  rollup_ads: 'rollup_ads_totals',
  cohort_activity: 'cohort_activity_totals',
  cohort_revenue: 'cohort_revenue_totals',
} as const satisfies Partial<Record<RollupTable, string>>;
export type TotalledTable = keyof typeof TOTALS;

export const isTotalled = (table: RollupTable): table is TotalledTable => Object.hasOwn(TOTALS, table);

type KeyOf<Table extends RollupTable> = (typeof ROLLUP_KEYS)[Table][number];

/** What a row takes beside the texts of its key. */
const ROW_WEIGHT = 700;

/** What a segment takes in a row beside its sums of 8 bytes each. */
const SEGMENT_WEIGHT = 24;

export const MICROS_PER_HIGH = 1_000_000_000_000;

/** Where a metric's sum stands in a row; an amount has its high part in the next place. */
type Place = { at: number; isAmount: boolean };

const PLACES = new Map<RollupTable, Map<string, Place>>(
  ROLLUP_TABLES.map((table) => {
    const places = new Map<string, Place>();
    let at = 0;
    for (const name of MEASURES[table]) {
      const isAmount = isMoney(name);
      places.set(name, { at, isAmount });
      at += isAmount ? 2 : 1;
    }
    return [table, places];
  }),
);

/** Keys that are numbers. */
const NUMBERS: ReadonlySet<string> = new Set(['age']);

/**
 * `segments` holds, one after the other, each segment's id and its own sums; `places`, once they are many, where each one's sums
 * begin, so that an event takes the same work however many there are.
 */
type Row = { sums: number[]; segments: number[]; places: Map<number, number> | null };

/** So many segments of a row are looked through; more are looked up. */
const MAX_SCANNED = 8;

/**
 * What a run of events adds to one rollup table, a row per key, broken down by segment. Counts stay below 2^53 in any run, and so
 * do both parts of an amount: one event adds at most 2^53 micros, which is some 9,000 to the high part.
 */
export class Additions<Table extends RollupTable> {
  readonly table: Table;
  /** Some measure of the memory that the rows take, in bytes. */
  weight = 0;
  /** By its joined key alone, because the values themselves would take as much memory again. */
  private readonly byKey = new Map<string, Row>();
  private readonly places: ReadonlyMap<string, Place>;
  private readonly width: number;

  constructor(table: Table) {
    this.table = table;
    this.places = PLACES.get(table) ?? new Map();
    this.width = sumColumnsOf(table).length;
  }

  add(key: Record<KeyOf<Table>, string | number>, segment: number, amounts: Amounts<Table>): void {
    const keys: readonly KeyOf<Table>[] = ROLLUP_KEYS[this.table];
    // Text never holds a NUL, so joined keys are equal only where their parts are.
    let joined = '';
    for (const name of keys) joined += `\0${key[name]}`;
    let row = this.byKey.get(joined);
    if (!row) {
      row = { sums: new Array<number>(this.width).fill(0), segments: [], places: null };
      this.byKey.set(joined, row);
      this.weight += joined.length + ROW_WEIGHT;
    }
    const own = this.placeOf(row, segment);
    for (const name in amounts) {
      const place = this.places.get(name);
      const amount = (amounts as Record<string, number | undefined>)[name];
      if (!place || !amount) continue;
      addAt(row.sums, place.at, place.isAmount, amount);
      addAt(row.segments, own + place.at, place.isAmount, amount);
    }
  }

  /** Keys and sums, those in the order of `MEASURES`. */
  entries(): { key: (string | number)[]; sums: bigint[] }[] {
    return [...this.byKey].map(([joined, { sums }]) => ({
      key: this.split(joined),
      sums: [...this.places.values()].map(({ at, isAmount }) => {
        const low = BigInt(sums[at] ?? 0);
        return isAmount ? BigInt(sums[at + 1] ?? 0) * BigInt(MICROS_PER_HIGH) + low : low;
      }),
    }));
  }

  /** The values of `additionColumns`. */
  *rows(): Generator<(string | number)[]> {
    for (const [joined, { sums, segments }] of this.byKey) {
      yield [...this.split(joined), ...sums, this.pack(segments)];
    }
  }

  /** Where the sums of a segment begin in a row's. */
  private placeOf(row: Row, segment: number): number {
    const step = this.width + 1;
    const { segments } = row;
    if (row.places) {
      const place = row.places.get(segment);
      if (place !== undefined) return place;
    } else {
      for (let at = 0; at < segments.length; at += step) if (segments[at] === segment) return at + 1;
    }
    const place = segments.length + 1;
    const own = new Array<number>(step).fill(0);
    own[0] = segment;
    if (row.places) {
      segments.push(...own);
      row.places.set(segment, place);
    } else {
      // An array that is pushed to keeps room for more, of which most rows never have any.
      row.segments = segments.length === 0 ? own : segments.concat(own);
      if (row.segments.length > MAX_SCANNED * step) {
        row.places = new Map();
        for (let at = 0; at < row.segments.length; at += step) row.places.set(row.segments[at] ?? 0, at + 1);
      }
    }
    this.weight += step * 8 + SEGMENT_WEIGHT;
    return place;
  }

  /** `[id, sum, …],…`; the zeros at the end of each are left out. */
  private pack(segments: readonly number[]): string {
    const parts: string[] = [];
    const step = this.width + 1;
    for (let at = 0; at < segments.length; at += step) {
      let end = at + step;
      while (segments[end - 1] === 0 && end > at + 1) end--;
      parts.push(`[${segments.slice(at, end).join(',')}]`);
    }
    return parts.join(',');
  }

  private split(joined: string): (string | number)[] {
    const values = joined.slice(1).split('\0');
    return ROLLUP_KEYS[this.table].map((name, index) =>
      NUMBERS.has(name) ? Number(values[index]) : (values[index] ?? ''),
    );
  }
}

function addAt(sums: number[], at: number, isAmount: boolean, amount: number): void {
  if (!isAmount) {
    sums[at] = (sums[at] ?? 0) + amount;
    return;
  }
  const low = (sums[at] ?? 0) + (amount % MICROS_PER_HIGH);
  const high = Math.floor(amount / MICROS_PER_HIGH) + (low >= MICROS_PER_HIGH ? 1 : 0);
  sums[at] = low >= MICROS_PER_HIGH ? low - MICROS_PER_HIGH : low;
  if (high > 0) sums[at + 1] = (sums[at + 1] ?? 0) + high;
}

/** The columns of a table's sums, in the order in which a segment's stand in its list. */
export const sumColumnsOf = (table: RollupTable): string[] => MEASURES[table].flatMap(columnsOfMeasure);

/** The columns of a table's rows in the order of `Additions.rows`. */
export const additionColumns = (table: RollupTable): string[] => [
  ...ROLLUP_KEYS[table],
  ...sumColumnsOf(table),
  'segments',
];
