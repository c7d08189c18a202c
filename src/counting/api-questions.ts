import type {
  AttributionKind,
  DeviceDimension,
  DoubtSettings,
  SegmentDimension,
  SourceDayFacts,
} from '#catalogue';
import type { Part } from '#lib/calendar';
import type { Sample } from '#lib/statistics/compare';

// The questions that reports ask a counter about its devices, and the answers.

/** Devices by acquisition day; both ends included. */
export type Cohort = { from: string; to: string };

/** The properties in a device's row by which devices can be grouped. */
export type DeviceGroup = 'creative' | SegmentDimension;

export type DoubtsQuestion = {
  cohort: Cohort;
  /** `creativeIds` are those that installs would be attributed to without an exclusion. Only excluded ones are organic. */
  filter: DeviceFilter;
  /** What has few enough values that all groups fit in an answer. */
  groupBy: 'creative' | DeviceDimension | null;
  settings: DoubtSettings;
  /** The creatives and days whose `delays` are wanted. */
  sources: { creativeId: string; day: string }[];
  /** What is known of the days of creatives by now. Other installs are judged by what was known when they came. */
  judged: { creativeId: string; facts: SourceDayFacts }[];
};

/** Attributed installs, those that rules doubt, and those that they excluded when they came. */
export type DoubtsAnswer = { groups: DoubtedGroups; delays: InstallDelays[] };

/** Of a creative's installs by a click on one day: seconds from the click to the first open, rounded to three digits, and how many took as long. */
type InstallDelays = {
  creativeId: string;
  day: string;
  delays: { seconds: number; installs: number }[];
};

export type DoubtedGroups = {
  /** A creative's id, or a value of a dimension (`''` for an unknown one); `''` without grouping. */
  key: string;
  installs: number;
  doubted: number;
  excluded: number;
  /** By rule; rules without any are missing. */
  rules: Record<string, { doubted: number; notChecked: number }>;
}[];

export type FunnelQuestion = {
  cohort: Cohort;
  filter: DeviceFilter;
  groupBy: DeviceGroup | null;
  /** A repeated step is a further event of its kind. */
  steps: string[];
  /** Time limit after the first step; null for none. */
  windowSeconds: number | null;
  /** The largest number of durations, over all groups and steps, that one counter returns: see `packDurations`. */
  maxDurations: number;
  /** The largest number of groups, not counting the one of all others. */
  maxGroups: number;
};

export type FunnelAnswer = {
  /**
   * A creative's id (`''` for organic), or a value of a dimension (`''` for an unknown one); `''` without grouping. Null for all groups without
   * a row of their own.
   */
  key: string | null;
  /** Devices that reach each step. */
  devices: number[];
  /** For each step, `[seconds, devices, …]` since the previous step, shortest first; empty for the first step. */
  durations: Uint32Array[];
  /** Devices whose history was shortened before a step that they may have reached. */
  incomplete: number;
}[];

export type OutcomesQuestion = {
  cohort: Cohort;
  filter: DeviceFilter;
  /** Day numbers. */
  days: number[];
  /** A day in the application's time zone. A device counts for day N only if its day N was over by then. */
  today: string;
  /** The value of one unit of each currency in the reporting currency. */
  rates: Record<string, number>;
  /** Whether revenue is without refunds and the share that stores keep. */
  net: NetTerms | null;
};

/** Revenue is without refunds and this fee. */
export type NetTerms = { storeFeeBasisPoints: number };

/** The outcomes of a cohort. Amounts are in units of the reporting currency, as rounded floating-point numbers. */
export type OutcomesAnswer = {
  size: number;
  days: {
    day: number;
    eligible: number;
    /** Active exactly on day N. */
    active: number;
    /** Devices that paid by day N. */
    payers: number;
    /** Revenue per eligible device by day N; null for a day that is not one of `REVENUE_DAYS`. */
    revenue: Sample | null;
    /** What that lacks: by currency, the nanos that have no rate. */
    unconverted: Record<string, number>;
  }[];
};

export type PurchasesQuestion = {
  cohort: Cohort;
  filter: DeviceFilter;
  groupBy: DeviceGroup | null;
  /** How acquisition days are grouped. */
  cohortBy: Part;
  /** A day in the application's time zone, up to which purchases and activity count. */
  today: string;
  /** Whether more may be known than up to `today`: it is a day in the past. */
  isPast: boolean;
  /** The value of one unit of each currency in the reporting currency. */
  rates: Record<string, number>;
  /** Whether `unconverted` is without refunds and the share that stores keep. */
  net: NetTerms | null;
  /** The largest number of rows of tables, over all groups, that one counter returns. Beyond it, times are rounded. */
  maxCells: number;
  /** The largest number of groups, not counting the one of all others. */
  maxGroups: number;
};

/**
 * How often, until when and for how much the devices of each group purchased, and how active they were. Amounts are in units of the reporting
 * currency. Everything is the same in whatever order devices are read; tables are in the order of their numbers.
 */
export type PurchasesAnswer = {
  /** `2026-03-02`, `2026-W10` or `2026-03`; empty for all. */
  cohort: string;
  /**
   * A creative's id (`''` for organic), or a value of a dimension (`''` for an unknown one); `''` without grouping. Null for all groups without
   * a row of their own.
   */
  key: string | null;
  size: number;
  payers: number;
  /** What is known of the revenue so far. Devices store it by bands of days, and bands that were not over are unknown. */
  purchaseRevenue: number;
  adRevenue: number;
  /** What was refunded of these purchases, whenever. */
  returnedRevenue: number;
  /** First purchases, repeat purchases and active days so far whose revenue is not known. */
  unvaluedFirsts: number;
  unvaluedRepeats: number;
  unvaluedDays: number;
  /**
   * What the revenue lacks: by currency, the nanos that have no rate. Devices that have purchased in such currencies alone are in none of the
   * histories, firsts, waiting and values below.
   */
  unconverted: Record<string, number>;
  /**
   * Purchases on one day are one, and the first is not a repeat:
   * `[repeats, day of the last, days seen, repeats of known value, devices, sum of these values, …]`, in days since the first purchase.
   */
  histories: Float64Array;
  /** `[repeats of known value, …, devices, sum of their mean values, …]`, by mean values rounded to 1 %. */
  spending: Float64Array;
  /** `[days from the acquisition to the first purchase, devices, …]`. */
  firsts: Float64Array;
  /** `[days since the acquisition, devices, …]` of those that have not purchased. */
  waiting: Float64Array;
  /** The known values of first purchases, their sum and the sum of their squares. */
  firstValues: { count: number; sum: number; squares: number };
  /** `[days since the acquisition, devices, …]`. */
  ages: Float64Array;
  /** Devices active on each day since the acquisition, of those whose day is over. */
  active: Float64Array;
  /** Over devices: sums of active days (n) and ad revenue (a), and of their products. */
  earnings: { n: number; a: number; nn: number; na: number; aa: number };
}[];

/** Clients' running totals and what was counted for the same devices. Amounts are nanos as decimal text. */
export type ClientTotals = {
  totals: {
    kind: 'ad' | 'purchase';
    /** Null for devices with several currencies or with none, which cannot be compared. */
    currency: string | null;
    devices: number;
    devicesWithGap: number;
    client: string | null;
    counted: string | null;
  }[];
  /** The devices with the largest gaps, at most 200. */
  gaps: {
    deviceId: string;
    kind: 'ad' | 'purchase';
    currency: string;
    client: string;
    counted: string;
  }[];
};

/**
 * Selects devices by what was known at their acquisition. The values of one field are alternatives, with empty text for unknown; a device must
 * match every field.
 */
export type DeviceFilter = {
  creativeIds?: string[];
  segment?: Partial<Record<SegmentDimension, string[]>>;
  attribution?: AttributionKind;
};

/** A version is that of an event, so payers are not grouped by it. */
export type PayerGrouping = 'creative' | DeviceDimension;

/**
 * Which devices a period has: those that paid in it, that were active in it, or that were acquired in it and have paid at any time. Absent in
 * questions of the previous release, which are about those that paid.
 */
export type DevicesOf = 'paid' | 'active' | 'acquired_payers';

/** Periods are days, both ends included; at most 401. */
export type PayersQuery = {
  of?: DevicesOf;
  periods: Cohort[];
  by: PayerGrouping[];
  filter: DeviceFilter;
};

/** Distinct devices of each period. Properties that are not grouped by are empty, like an organic device's creative. */
export type Payers = {
  period: number;
  creativeId: string;
  segment: Record<DeviceDimension, string>;
  devices: number;
}[];
