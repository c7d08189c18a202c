import { divideRounded } from '#lib/decimal';

// What is added up of a report's groups.

/**
 * What a metric can be computed from. `by: 'currency'` are sums of events with an amount, which reports can group by currency.
 */
export const SUMS = {
  clicks: { is: 'count' },
  /** Impressions of creatives that networks report to their links, and those that costs state; `impressions` are those of ads in the app. */
  creativeImpressions: { is: 'count' },
  statedImpressions: { is: 'count' },
  installs: { is: 'count' },
  /** Installs that a rule doubted when they came. */
  doubtedInstalls: { is: 'count' },
  /** Installs of attributed devices. */
  attributedInstalls: { is: 'count' },
  activeDevices: { is: 'count' },
  sessions: { is: 'count' },
  sessionSeconds: { is: 'count' },
  /** Sessions whose length was sent. */
  endedSessions: { is: 'count' },
  customEvents: { is: 'count' },
  adRequests: { is: 'count' },
  payers: { is: 'count' },
  /** Distinct devices: active in the period, active in the `MAU_DAYS` that end with it, and attributed ones acquired in it that have paid so far. */
  periodActive: { is: 'count' },
  monthlyActive: { is: 'count' },
  acquiredPayers: { is: 'count' },
  impressions: { is: 'count', by: 'currency' },
  adRevenue: { is: 'amount', by: 'currency' },
  purchases: { is: 'count', by: 'currency' },
  failedPurchases: { is: 'count', by: 'currency' },
  purchaseRevenue: { is: 'amount', by: 'currency' },
  refunds: { is: 'count', by: 'currency' },
  /** What was refunded in the period. */
  refundedRevenue: { is: 'amount', by: 'currency' },
  /** What was refunded of the purchases of the period, whenever. */
  returnedRevenue: { is: 'amount', by: 'currency' },
  trials: { is: 'count' },
  renewals: { is: 'count' },
  spend: { is: 'amount', by: 'currency' },
  /** The revenue so far of the devices acquired in the period, and of the attributed ones among them. */
  acquiredRevenue: { is: 'amount' },
  attributedRevenue: { is: 'amount' },
  /** What they purchased so far, and what was refunded of it. */
  acquiredPurchaseRevenue: { is: 'amount' },
  acquiredReturnedRevenue: { is: 'amount' },
  attributedPurchaseRevenue: { is: 'amount' },
  attributedReturnedRevenue: { is: 'amount' },
  /** What became of the devices acquired in the period. */
  cohort: { is: 'cohort' },
} as const satisfies Record<string, { is: 'count' | 'amount' | 'cohort'; by?: 'currency' }>;

export type SumName = keyof typeof SUMS;
type Is<Wanted> = { [Name in SumName]: (typeof SUMS)[Name]['is'] extends Wanted ? Name : never }[SumName];
export type CountName = Is<'count'>;
export type AmountName = Is<'amount'>;

const namesOf = (wanted: 'count' | 'amount') =>
  (Object.keys(SUMS) as SumName[]).filter((name) => SUMS[name].is === wanted);
export const COUNTS = namesOf('count') as CountName[];
export const AMOUNTS = namesOf('amount') as AmountName[];

/**
 * The sums of a group. Amounts are nanos of the reporting currency. What cannot be converted is in none of them, and listed by its own
 * currency instead.
 */
export type Sums = Record<CountName, number> &
  Record<AmountName, bigint> & {
    /** What stores keep of payments, in hundredths of a percent: a setting of the application. */
    storeFeeBasisPoints: number;
    /** What revenue and spend lack, by currency. */
    unconverted: ReadonlyMap<string, bigint>;
    /** What `acquiredRevenue` lacks, by currency. */
    unconvertedAcquired: ReadonlyMap<string, bigint>;
    /** Null unless a metric of cohorts was asked for. */
    cohort: CohortFigures | null;
  };

export type CohortFigure = 'retention' | 'ltv' | 'ltv_net' | 'roas' | 'roas_net' | 'profit' | 'profit_net';

/** What became of the devices acquired in a group, by day number. */
export type CohortFigures = {
  /** Null where it is unknown: where no device is old enough, for instance. */
  figures: ReadonlyMap<number, Readonly<Record<CohortFigure, number | null>>>;
  /** The day numbers that are not over for all of the devices. */
  incompleteDays: readonly number[];
  /** What the amounts lack, by currency. */
  unconverted: ReadonlyMap<string, bigint>;
};

/** Payments without refunds and the stores' fee. */
export const netOfFee = (
  purchased: bigint,
  returned: bigint,
  { storeFeeBasisPoints }: Pick<Sums, 'storeFeeBasisPoints'>,
): bigint => divideRounded((purchased - returned) * BigInt(10_000 - storeFeeBasisPoints), 10_000n);

/** Null if the divisor is 0 or either value is unknown. */
export const per = (amount: number | null, divisor: number | null): number | null =>
  amount === null || divisor === null || divisor === 0 ? null : amount / divisor;
