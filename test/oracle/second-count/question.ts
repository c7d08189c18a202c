import { localDay, type Sent } from '../history.ts';
import type { Cost, Rates } from '../setup.ts';

// What is asked of the reports, and the world that they report of.

export type World = {
  zone: string;
  currency: string;
  /** The day on which the reports are asked. */
  today: string;
  /** What was sent and counts, in the order of its arrival. */
  sent: Sent[];
  costs: readonly Cost[];
  published: readonly Rates[];
  /** The ids of each creative of the history. */
  ids: readonly Record<Named, string>[];
};

export const NAMED = ['campaign', 'adset', 'creative'] as const;
export type Named = (typeof NAMED)[number];
export const SEGMENTS = ['country', 'os', 'network', 'app_version', 'sdk_version'] as const;

export type Filters = {
  campaign_id?: string[];
  adset_id?: string[];
  creative_id?: string[];
  country?: string[];
  os?: string[];
  network?: string[];
  app_version?: string[];
  sdk_version?: string[];
  attribution?: 'paid' | 'organic';
};

export type Question = {
  report:
    | 'performance'
    | 'retention'
    | 'ltv'
    | 'funnel'
    | 'compare'
    | 'ads'
    | 'client-totals'
    | 'predicted-ltv';
  from: string;
  to: string;
  groups: string[];
  filters: Filters;
  cohort?: 'day' | 'week' | 'month' | 'all';
  days?: number[];
  steps?: string[];
  window_hours?: number;
  until_hour?: number;
  /** The metrics of the answer, if not all that need not be asked for. */
  metrics?: string[];
  /** The currency of the answer, if not the application's. */
  currency?: string;
  /** At most so many rows, of groups with this text in one of their names. The others are in `other`. */
  limit?: number;
  q?: string;
  /** `compare` by a property of devices, or by two periods. */
  sides?: { a: string; b: string } | { b_from: string; b_to: string };
};

/** The query as it is sent. */
export function queryOf({ report, groups, filters, days, steps, sides, metrics, ...rest }: Question): string {
  const by = groups.length === 0 ? {} : { [report === 'compare' ? 'by' : 'group_by']: groups.join(',') };
  const lists = { days: days?.join(','), steps: steps?.join(','), metrics: metrics?.join(',') };
  const all = { ...rest, ...by, ...sides, ...filters, ...lists };
  const pairs = Object.entries(all).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((one) => [name, String(one)]),
  );
  return new URLSearchParams(pairs).toString();
}

export const nameQuestion = (question: Question): string => `${question.report}?${queryOf(question)}`;

/** The filter's value for what is unknown. */
const storedAs = (value: string) => (value === 'unknown' ? '' : value);
export const isOneOf = (values: string[] | undefined, value: string, isExact = false) =>
  values === undefined ||
  values.some((one) =>
    isExact ? storedAs(one) === value : storedAs(one).toLowerCase() === value.toLowerCase(),
  );

const isOfCreative = (world: World, filters: Filters, creative: number | null) => {
  const ids = creative === null ? undefined : world.ids[creative];
  const isNamed = NAMED.every((name) => {
    const wanted = filters[`${name}_id`];
    return wanted === undefined || (ids !== undefined && wanted.includes(ids[name]));
  });
  const { attribution } = filters;
  return isNamed && (attribution === undefined || (attribution === 'paid') === (creative !== null));
};

const isOfSegment = (filters: Filters, { country, os, network }: Sent, version: string, sdk: string) =>
  isOneOf(filters.country, country) &&
  isOneOf(filters.os, os) &&
  isOneOf(filters.network, network) &&
  isOneOf(filters.app_version, version, true) &&
  isOneOf(filters.sdk_version, sdk, true);

/** Whether a report of events has this one. */
export const isWanted = (world: World, filters: Filters) => (event: Sent) =>
  isOfCreative(world, filters, event.creative) && isOfSegment(filters, event, event.version, event.sdk);

/** Whether a report of devices has that of this event: by its versions when it came. */
export const isOfDevice = (world: World, filters: Filters) => (event: Sent) =>
  isOfCreative(world, filters, event.creative) &&
  isOfSegment(filters, event, event.firstVersion, event.firstSdk);

/** Costs do not say which version of an app or SDK they are of. */
export const knowsSpend = (filters: Filters): boolean =>
  filters.app_version === undefined && filters.sdk_version === undefined;

const hourFormats = new Map<string, Intl.DateTimeFormat>();

/** The hour of a clock in a zone with its offset, computed differently from the service. */
export function localHour(zone: string, at: number): string {
  const format =
    hourFormats.get(zone) ??
    new Intl.DateTimeFormat('en-GB', {
      timeZone: zone,
      hour: '2-digit',
      hourCycle: 'h23',
      timeZoneName: 'longOffset',
    });
  hourFormats.set(zone, format);
  const parts = format.formatToParts(at);
  const part = (type: string) => parts.find((one) => one.type === type)?.value ?? '';
  return `${localDay(zone, at)}T${part('hour')}:00:00${part('timeZoneName').slice('GMT'.length) || '+00:00'}`;
}
const DAY_MS = 86_400_000;
export const plusDays = (day: string, days: number): string =>
  new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10);
export const daysBetween = (from: string, to: string): string[] =>
  Array.from({ length: Math.max(0, (Date.parse(to) - Date.parse(from)) / DAY_MS + 1) }, (_, at) =>
    plusDays(from, at),
  );

/** The ISO week, numbered by its Thursday. */
export function weekName(day: string): string {
  const at = new Date(day);
  const thursday = new Date(at.getTime() + (3 - ((at.getUTCDay() + 6) % 7)) * DAY_MS);
  const dayOfYear = (thursday.getTime() - Date.UTC(thursday.getUTCFullYear(), 0, 1)) / DAY_MS;
  return `${thursday.getUTCFullYear()}-W${String(Math.floor(dayOfYear / 7) + 1).padStart(2, '0')}`;
}

/** The name of what a day is in. */
export const SPANS: Record<string, (day: string) => string> = {
  day: (day) => day,
  week: weekName,
  month: (day) => day.slice(0, 7),
  all: () => '',
};
