// The rollup tables as the fold fills them: every metric is added to what the row holds already.
// Names are columns, so the statements are made from this list and from nothing a caller sends.

const CREATIVE_DAY = ['application_id', 'day', 'creative_id'] as const;
const COHORT = ['application_id', 'acquired_day', 'creative_id'] as const;

export const ROLLUPS = {
  rollup_daily: {
    keys: [...CREATIVE_DAY, 'currency'],
    metrics: [
      'clicks',
      'installs',
      'active_devices',
      'sessions',
      'session_seconds',
      'custom_events',
      'ad_requests',
      'payers',
      'impressions',
      'ad_revenue',
      'purchases',
      'failed_purchases',
      'purchase_revenue',
    ],
  },
  rollup_ads: {
    keys: ['application_id', 'day', 'source', 'media_source', 'placement', 'creative_id', 'currency'],
    metrics: ['impressions', 'ad_revenue', 'ad_requests'],
  },
  rollup_items: {
    keys: ['application_id', 'day', 'item_id', 'creative_id', 'currency'],
    metrics: ['purchases', 'failed_purchases', 'purchase_revenue'],
  },
  rollup_custom: {
    keys: ['application_id', 'day', 'event_name', 'creative_id'],
    metrics: ['custom_events'],
  },
  cohort_activity: {
    keys: [...COHORT, 'age'],
    metrics: ['active_devices', 'last_active_devices'],
  },
  cohort_revenue: {
    keys: [...COHORT, 'day', 'currency'],
    metrics: ['ad_revenue', 'purchase_revenue'],
  },
} as const satisfies Record<string, { keys: readonly string[]; metrics: readonly string[] }>;

export type RollupTable = keyof typeof ROLLUPS;
type KeyOf<Table extends RollupTable> = (typeof ROLLUPS)[Table]['keys'][number];
type MetricOf<Table extends RollupTable> = (typeof ROLLUPS)[Table]['metrics'][number];

/**
 * Amounts. Each stands in two columns: micros below 10^12 in the one of its name, whole millions of units (10^12 micros) in
 * `<name>_high`. Events of the largest value would fill 64 bits of micros after 9,223 of them; so split, a row never fills, and
 * sums over millions of rows do not either.
 */
const AMOUNTS: ReadonlySet<string> = new Set(['ad_revenue', 'purchase_revenue']);
const MICROS_PER_HIGH = 1_000_000_000_000n;

/** What a fold adds to one rollup table, a row a key. Sums are bigint, because micros leave 2^53. */
export class Additions<Table extends RollupTable> {
  readonly table: Table;
  private readonly byKey = new Map<string, { key: (string | number)[]; sums: bigint[] }>();

  constructor(table: Table) {
    this.table = table;
  }

  add(key: Record<KeyOf<Table>, string | number>, amounts: Partial<Record<MetricOf<Table>, number>>): void {
    const { keys, metrics } = ROLLUPS[this.table];
    const values = keys.map((name) => key[name as KeyOf<Table>]);
    // Text never holds a NUL, so joined keys are equal only where their parts are.
    const joined = values.join('\0');
    let row = this.byKey.get(joined);
    if (!row) {
      row = { key: values, sums: metrics.map(() => 0n) };
      this.byKey.set(joined, row);
    }
    for (const [index, name] of metrics.entries()) {
      const amount = amounts[name as MetricOf<Table>];
      if (amount !== undefined) row.sums[index] = (row.sums[index] ?? 0n) + BigInt(amount);
    }
  }

  /** Keys and sums, those in the order of `ROLLUPS`. */
  entries(): { key: (string | number)[]; sums: bigint[] }[] {
    return [...this.byKey.values()];
  }

  /** The values of `columnsOf` in JSON: sums as text, which SQLite's integer columns take exactly. */
  rows(): (string | number)[][] {
    const { metrics } = ROLLUPS[this.table];
    return this.entries().map(({ key, sums }) => [
      ...key,
      ...metrics.flatMap((name, index) => {
        const sum = sums[index] ?? 0n;
        return AMOUNTS.has(name)
          ? [String(sum % MICROS_PER_HIGH), String(sum / MICROS_PER_HIGH)]
          : [String(sum)];
      }),
    ]);
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
