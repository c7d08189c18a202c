import type { Part } from '#lib/calendar';
import type { Sample } from '#lib/statistics/compare';

// What reports ask a counter about its devices, and what it answers.

/** Devices, by the days of their acquisition; both included. */
export type Cohort = { from: string; to: string };

/** What tells devices apart by their own row. */
export type DeviceGroup = 'creative' | 'country' | 'os' | 'appVersion';

export type FunnelQuestion = {
  cohort: Cohort;
  filter: DeviceFilter;
  groupBy: DeviceGroup | null;
  /** Different from each other. */
  steps: string[];
  /** After the first step; null: no limit. */
  windowSeconds: number | null;
  /** The most durations, over all groups and steps, that one counter answers: see `packDurations`. */
  maxDurations: number;
};

export type FunnelAnswer = {
  /** A creative's id (`''` for organic), a country or a version (`''` for an unknown one), or an OS; `''` without grouping. */
  key: string;
  /** By step: devices that reach it. */
  devices: number[];
  /** By step: `[seconds, devices, …]` since the step before, shortest first; empty for the first step. */
  durations: Uint32Array[];
  /** Devices whose history was shortened before a step that they may have reached. */
  incomplete: number;
}[];

export type OutcomesQuestion = {
  cohort: Cohort;
  filter: DeviceFilter;
  /** Day numbers. */
  days: number[];
  /** A day in the application's time zone: only devices whose day N is over by then count for day N. */
  today: string;
  /** What one unit of each currency is worth in the reporting currency. */
  rates: Record<string, number>;
};

/** What became of devices. Amounts are in units of the reporting currency, and rounded as floating-point numbers are. */
export type OutcomesAnswer = {
  size: number;
  days: {
    day: number;
    eligible: number;
    /** On day N exactly. */
    active: number;
    /** Who paid by day N. */
    payers: number;
    /** Revenue per eligible device by day N; null for a day that is not one of `REVENUE_DAYS`. */
    revenue: Sample | null;
  }[];
  /** Currencies without a rate in which one of the devices earned. */
  unconverted: string[];
};

export type PurchasesQuestion = {
  cohort: Cohort;
  filter: DeviceFilter;
  groupBy: DeviceGroup | null;
  /** How acquisition days are put together. */
  cohortBy: Part;
  /** A day in the application's time zone, until which purchases were seen. */
  today: string;
  /** What one unit of each currency is worth in the reporting currency. */
  rates: Record<string, number>;
  /** The most different histories, over all groups, that one counter answers: past it times are rounded. */
  maxHistories: number;
};

/** How often, until when and for how much the devices of each group purchased. Amounts are in units of the reporting currency. */
export type PurchasesAnswer = {
  /** `2026-03-02`, `2026-W10` or `2026-03`; empty for all. */
  cohort: string;
  /** A creative's id (`''` for organic), a country or a version (`''` for an unknown one), or an OS; `''` without grouping. */
  key: string;
  size: number;
  payers: number;
  /** Purchase revenue so far. */
  revenue: number;
  /** Currencies without a rate in which one of the devices paid. */
  unconverted: string[];
  /** `[days with a purchase, day of the last one, days seen, devices, sum of the mean values a day, …]`; days since acquisition. */
  histories: Float64Array;
  /** `[days with a purchase, mean value a day, devices, …]`, values rounded to 1 %. */
  spending: Float64Array;
}[];

/** Running totals that clients keep against what was counted of the same devices. Amounts are decimal texts of micros. */
export type ClientTotals = {
  totals: {
    kind: 'ad' | 'purchase';
    /** Null for devices that used several currencies, which can't be compared. */
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
 * Which devices are asked about, by what is known of them since their acquisition. Values of one field are alternatives, empty text
 * for what is not known; a device has to match every field.
 */
export type DeviceFilter = {
  creativeIds?: string[];
  countries?: string[];
  oses?: string[];
  appVersions?: string[];
  attribution?: 'paid' | 'organic';
};

export type PayerGrouping = DeviceGroup;

/** Periods are days, both included; at most 400. */
export type PayersQuery = { periods: Cohort[]; by: PayerGrouping[]; filter: DeviceFilter };

/** Distinct devices that paid in each period; what they are not grouped by is empty, as for an organic device its creative. */
export type Payers = { period: number; creativeId: string; country: string; os: string; devices: number }[];
