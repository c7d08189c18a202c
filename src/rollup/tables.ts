import { MEASURES, type RollupTable } from '#catalogue';

// The rollup tables as counters fill them: every metric is added to what the row holds already.
// Names are columns, so the statements are made from this list and from nothing a caller sends.

const CREATIVE_DAY = ['application_id', 'day', 'creative_id'] as const;
const COHORT = ['application_id', 'acquired_day', 'creative_id'] as const;

export const ROLLUPS = {
  rollup_daily: { keys: [...CREATIVE_DAY, 'currency'], metrics: MEASURES.rollup_daily },
  rollup_ads: {
    keys: ['application_id', 'day', 'source', 'media_source', 'placement', 'creative_id', 'currency'],
    metrics: MEASURES.rollup_ads,
  },
  rollup_items: {
    keys: ['application_id', 'day', 'item_id', 'creative_id', 'currency'],
    metrics: MEASURES.rollup_items,
  },
  rollup_custom: {
    keys: ['application_id', 'day', 'event_name', 'creative_id'],
    metrics: MEASURES.rollup_custom,
  },
  cohort_activity: { keys: [...COHORT, 'age'], metrics: MEASURES.cohort_activity },
  cohort_revenue: { keys: [...COHORT, 'day', 'currency'], metrics: MEASURES.cohort_revenue },
} as const satisfies Record<RollupTable, { keys: readonly string[]; metrics: readonly string[] }>;

type KeyOf<Table extends RollupTable> = (typeof ROLLUPS)[Table]['keys'][number];
type MetricOf<Table extends RollupTable> = (typeof ROLLUPS)[Table]['metrics'][number];

/** What a row takes beside the texts of its key. */
const ROW_WEIGHT = 600;

/**
 * Amounts. Each stands in two columns: micros below 10^12 in the one of its name, whole millions of units (10^12 micros) in
 * `<name>_high`. Events of the largest value would fill 64 bits of micros after 9,223 of them; so split, a row never fills, and
 * sums over millions of rows do not either.
 */
const AMOUNTS: ReadonlySet<string> = new Set(['ad_revenue', 'purchase_revenue']);
const MICROS_PER_HIGH = 1_000_000_000_000;

/** Where a metric's sum stands in a row; an amount has its high part in the next place. */
type Place = { at: number; isAmount: boolean };

const PLACES = new Map<RollupTable, Map<string, Place>>(
  (Object.keys(ROLLUPS) as RollupTable[]).map((table) => {
    const places = new Map<string, Place>();
    let at = 0;
    for (const name of ROLLUPS[table].metrics) {
      const isAmount = AMOUNTS.has(name);
      places.set(name, { at, isAmount });
      at += isAmount ? 2 : 1;
    }
    return [table, places];
  }),
);

/** Keys that are numbers. */
const NUMBERS: ReadonlySet<string> = new Set(['age']);

/**
 * What a run of events adds to one rollup table, a row per key. Counts stay below 2^53 in any run, and so do both parts of an amount: one
 * event's is below 2^53 micros, and what exceeds the low part moves to the high one at once.
 */
export class Additions<Table extends RollupTable> {
  readonly table: Table;
  /** Some measure of the memory that the rows take, in bytes. */
  weight = 0;
  /** By its joined key alone, because the values themselves would take as much memory again. */
  private readonly byKey = new Map<string, number[]>();
  private readonly places: ReadonlyMap<string, Place>;
  private readonly width: number;

  constructor(table: Table) {
    this.table = table;
    this.places = PLACES.get(table) ?? new Map();
    this.width = columnsOf(table).length - ROLLUPS[table].keys.length;
  }

  add(key: Record<KeyOf<Table>, string | number>, amounts: Partial<Record<MetricOf<Table>, number>>): void {
    const keys: readonly KeyOf<Table>[] = ROLLUPS[this.table].keys;
    // Text never holds a NUL, so joined keys are equal only where their parts are.
    let joined = '';
    for (const name of keys) joined += `\0${key[name]}`;
    let sums = this.byKey.get(joined);
    if (!sums) {
      sums = new Array<number>(this.width).fill(0);
      this.byKey.set(joined, sums);
      this.weight += joined.length + ROW_WEIGHT;
    }
    for (const name in amounts) {
      const place = this.places.get(name);
      if (!place) continue;
      const { at, isAmount } = place;
      const amount = amounts[name as MetricOf<Table>] ?? 0;
      if (!isAmount) sums[at] = (sums[at] ?? 0) + amount;
      else {
        const low = (sums[at] ?? 0) + (amount % MICROS_PER_HIGH);
        const high = Math.floor(amount / MICROS_PER_HIGH) + (low >= MICROS_PER_HIGH ? 1 : 0);
        sums[at] = low >= MICROS_PER_HIGH ? low - MICROS_PER_HIGH : low;
        if (high > 0) sums[at + 1] = (sums[at + 1] ?? 0) + high;
      }
    }
  }

  /** Keys and sums, those in the order of `ROLLUPS`. */
  entries(): { key: (string | number)[]; sums: bigint[] }[] {
    return [...this.byKey].map(([joined, sums]) => ({
      key: this.split(joined),
      sums: [...this.places.values()].map(({ at, isAmount }) => {
        const low = BigInt(sums[at] ?? 0);
        return isAmount ? BigInt(sums[at + 1] ?? 0) * BigInt(MICROS_PER_HIGH) + low : low;
      }),
    }));
  }

  /** The values of `columnsOf`. */
  *rows(): Generator<(string | number)[]> {
    for (const [joined, sums] of this.byKey) yield [...this.split(joined), ...sums];
  }

  private split(joined: string): (string | number)[] {
    const { keys } = ROLLUPS[this.table];
    const values = joined.slice(1).split('\0');
    return keys.map((name, index) => (NUMBERS.has(name) ? Number(values[index]) : (values[index] ?? '')));
  }
}

const highOf = (amount: string) => `${amount}_high`;

/** The columns of a rollup table, in the order of `Additions.rows`. */
function columnsOf(table: RollupTable): string[] {
  const { keys, metrics } = ROLLUPS[table];
  return [...keys, ...metrics.flatMap((name) => (AMOUNTS.has(name) ? [name, highOf(name)] : [name]))];
}

/** Adds rows (`?1`, a JSON array as `Additions.rows` gives it) to a rollup table. */
export function additionSql(table: RollupTable): string {
  const { keys, metrics } = ROLLUPS[table];
  const columns = columnsOf(table);
  const values = columns.map((_, index) => `value ->> ${index}`);
  const sums = metrics.flatMap((name) => {
    const sum = `${name} + excluded.${name}`;
    if (!AMOUNTS.has(name)) return [`${name} = ${sum}`];
    const high = highOf(name);
    return [
      `${name} = (${sum}) % ${MICROS_PER_HIGH}`,
      `${high} = ${high} + excluded.${high} + (${sum}) / ${MICROS_PER_HIGH}`,
    ];
  });
  return `INSERT INTO ${table} (${columns.join(', ')}) SELECT ${values.join(', ')} FROM json_each(?1) WHERE true
    ON CONFLICT (${keys.join(', ')}) DO UPDATE SET ${sums.join(', ')}`;
}
