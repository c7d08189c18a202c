import * as z from 'zod';
import { requiredText } from '#http';
import { CURRENCIES } from '#lib/currencies';
import { fromMicros } from '#lib/money';
import { daysBetween } from '#lib/time';
import { ALL_METRICS, type Metric, type MetricValues, metricsOf, noSums, type Sums } from './metrics.ts';
import { type CreativeNames, creativeColumns, isCreativeGroup, readCreativeNames } from './names.ts';
import { listOf, MAX_SPAN_DAYS, orderedPeriod, period } from './query.ts';

type Rollup = { table: string; counts: Partial<Record<keyof Sums, string>>; gives: ReadonlySet<Metric> };

const AD_COUNTS = { impressions: 'impressions', adRevenue: 'ad_revenue', adRequests: 'ad_requests' };
const PURCHASE_COUNTS = {
  purchases: 'purchases',
  failedPurchases: 'failed_purchases',
  purchaseRevenue: 'purchase_revenue',
};

/** Which rollup answers, what of it is added up, and which metrics that makes. */
const ROLLUP = {
  daily: {
    table: 'rollup_daily',
    counts: {
      ...AD_COUNTS,
      ...PURCHASE_COUNTS,
      clicks: 'clicks',
      installs: 'installs',
      activeDevices: 'active_devices',
      sessions: 'sessions',
      customEvents: 'custom_events',
      payers: 'payers',
    },
    gives: new Set(ALL_METRICS),
  },
  ads: {
    table: 'rollup_ads',
    counts: AD_COUNTS,
    gives: new Set<Metric>(['impressions', 'ad_revenue', 'ecpm', 'ad_requests', 'fill_rate']),
  },
  custom: {
    table: 'rollup_custom',
    counts: { customEvents: 'custom_events' },
    gives: new Set<Metric>(['events']),
  },
} as const satisfies Record<string, Rollup>;

/** The groupings: the column behind each and the only rollup that has it, where it is not in all of them. */
const DIMENSIONS = {
  day: { column: 'day' },
  creative: { column: 'creative_id' },
  adset: { column: 'creative_id' },
  campaign: { column: 'creative_id' },
  source: { column: 'source', rollup: 'ads' },
  media_source: { column: 'media_source', rollup: 'ads' },
  event_name: { column: 'event_name', rollup: 'custom' },
} as const satisfies Record<string, { column: string; rollup?: keyof typeof ROLLUP }>;

type Dimension = keyof typeof DIMENSIONS;
const isDimension = (name: string): name is Dimension => Object.hasOwn(DIMENSIONS, name);

const groupError = `must be one or two of ${Object.keys(DIMENSIONS).join(', ')}`;

export const PerformanceQuery = z
  .object({
    ...period,
    group_by: z
      .string()
      .default('day')
      .transform(listOf)
      .pipe(
        z
          .array(z.custom<Dimension>((name) => typeof name === 'string' && isDimension(name), groupError))
          .max(2, groupError),
      )
      .refine((names) => rollupsOf(names).length <= 1, 'names two groupings that no event has both of'),
    currency: requiredText(3)
      .toLowerCase()
      .refine((code) => CURRENCIES.has(code), 'must be an ISO 4217 code')
      .optional(),
  })
  .refine(orderedPeriod.check, orderedPeriod.fault)
  .refine(({ from, to }) => daysBetween(from, to) < MAX_SPAN_DAYS, {
    path: ['to'],
    error: `must be within ${MAX_SPAN_DAYS} days of from`,
  });
export type PerformanceQuery = z.infer<typeof PerformanceQuery>;

function rollupsOf(names: readonly Dimension[]): (keyof typeof ROLLUP)[] {
  return [
    ...new Set(
      names.map((name) => DIMENSIONS[name]).flatMap((found) => ('rollup' in found ? [found.rollup] : [])),
    ),
  ];
}

export type PerformanceReport = {
  data: (Record<string, string | null> & MetricValues)[];
  totals: MetricValues;
  currency: string;
  timezone: string;
  unconverted: { currency: string; amount: number }[];
};

/** Sums as they come from SQL: amounts as text, because the driver's numbers end at 2^53. */
type SumRow = { currency: string | null } & Record<string, string | number | null>;

async function readSums(
  db: D1Database,
  rollup: Rollup,
  groups: readonly Dimension[],
  query: PerformanceQuery,
) {
  const columns = [...new Set(groups.map((name) => DIMENSIONS[name].column))];
  const currency = rollup.table === 'rollup_custom' ? "''" : 'currency';
  const sums = Object.entries(rollup.counts).map(
    ([name, column]) => `CAST(sum(${column}) AS TEXT) AS ${name}`,
  );
  const grouped = [...columns, 'currency'].join(', ');
  const { results } = await db
    .prepare(
      `SELECT ${[...columns, `${currency} AS currency`, ...sums].join(', ')} FROM ${rollup.table}
       WHERE application_id = ?1 AND day BETWEEN ?2 AND ?3 GROUP BY ${grouped} ORDER BY ${grouped}`,
    )
    .bind(query.application_id, query.from, query.to)
    .all<SumRow>();
  return results;
}

const AMOUNTS = ['adRevenue', 'purchaseRevenue'] as const;
const isAmount = (name: string): name is (typeof AMOUNTS)[number] =>
  AMOUNTS.some((amount) => amount === name);

/** Adds a row's counts, and its amounts where its currency is the reporting one; the others go to `unconverted`. */
function addRow(
  sums: Sums,
  rollup: Rollup,
  row: SumRow,
  reporting: string,
  unconverted: Map<string, bigint>,
): void {
  for (const name of Object.keys(rollup.counts) as (keyof Sums)[]) {
    if (!isAmount(name)) {
      sums[name] += Number(row[name]);
      continue;
    }
    const micros = BigInt(row[name] ?? 0);
    const currency = row.currency ?? '';
    if (currency === reporting || micros === 0n) sums[name] += micros;
    else unconverted.set(currency, (unconverted.get(currency) ?? 0n) + micros);
  }
}

/** How many calendar days a group stands for: one of its own, or all that were asked for. */
const daysOf = (groups: readonly Dimension[], days: number) => (groups.includes('day') ? 1 : days);

/** The columns by which a group is told from the others; null for what has no value of its grouping. */
function keyOf(groups: readonly Dimension[], row: SumRow, names: CreativeNames) {
  const columns = groups.map((name): Record<string, string | null> => {
    const value = String(row[DIMENSIONS[name].column] ?? '');
    return isCreativeGroup(name) ? creativeColumns(names, name, value) : { [name]: value || null };
  });
  return Object.assign({}, ...columns) as Record<string, string | null>;
}

/**
 * The performance report: what the days `from` to `to` brought, in one row a group and in total.
 * `application` is the caller's own, already checked.
 */
export async function reportPerformance(
  db: D1Database,
  application: { currency: string; timezone: string },
  query: PerformanceQuery,
): Promise<PerformanceReport> {
  const [named] = rollupsOf(query.group_by);
  const rollup: Rollup = ROLLUP[named ?? 'daily'];
  const reporting = query.currency ?? application.currency;
  const days = daysBetween(query.from, query.to) + 1;
  const groups = new Map<string, { key: Record<string, string | null>; sums: Sums }>();
  // Requests are made of a placement before any network is known, so no network can be held against them.
  const byNetwork = query.group_by.includes('media_source');
  const gives = byNetwork
    ? new Set([...rollup.gives].filter((metric) => metric !== 'ad_requests' && metric !== 'fill_rate'))
    : rollup.gives;
  const rows = await readSums(db, rollup, query.group_by, query);
  const names = await readCreativeNames(
    db,
    query.application_id,
    rows.map((row) => String(row.creative_id ?? '')),
  );
  for (const row of rows) {
    if (byNetwork && Number(row.impressions) === 0) continue;
    const key = keyOf(query.group_by, row, names);
    const joined = JSON.stringify(key);
    const group = groups.get(joined) ?? { key, sums: noSums() };
    addRow(group.sums, rollup, row, reporting, new Map());
    groups.set(joined, group);
  }
  const total = noSums();
  const unconverted = new Map<string, bigint>();
  for (const row of await readSums(db, ROLLUP.daily, [], query))
    addRow(total, ROLLUP.daily, row, reporting, unconverted);
  return {
    data:
      query.group_by.length === 0
        ? []
        : ([...groups.values()].map(({ key, sums }) => ({
            ...key,
            ...metricsOf(sums, daysOf(query.group_by, days), gives),
          })) as PerformanceReport['data']),
    totals: metricsOf(total, days, ROLLUP.daily.gives),
    currency: reporting,
    timezone: application.timezone,
    unconverted: [...unconverted].map(([currency, micros]) => ({ currency, amount: fromMicros(micros) })),
  };
}
