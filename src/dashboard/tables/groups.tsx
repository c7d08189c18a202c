import { type DimensionName, ofDimensions, SEGMENT, SEGMENT_DIMENSIONS, valueName } from '#catalogue';
import { endOfMonth } from '#lib/calendar';
import { isolate } from '#lib/input/isolate';
import { addDays, type DayRange } from '#lib/time';
import { DEVICE_GROUPS, isOfGroup, REPORT_DIMENSIONS } from '#reports';
import { mondayOfWeek, placeText } from '../shell/dates.ts';
import { cutMiddle } from '../shell/parts.tsx';
import {
  type FilterName,
  type Here,
  type View,
  type ViewChanges,
  viewQuery,
  withFilter,
} from '../shell/view.ts';
import type { CellValue } from './metrics.ts';

const LABELS: Record<string, string> = {
  hour: 'Hour',
  day: 'Day',
  week: 'Week',
  month: 'Month',
  campaign: 'Campaign',
  adset: 'Ad set',
  creative: 'Creative',
  ...ofDimensions(SEGMENT_DIMENSIONS, (name) => SEGMENT[name].label),
  source: 'Ad format',
  media_source: 'Ad network',
  placement: 'Placement',
  item: 'Item',
  event_name: 'Event name',
  currency: 'Currency',
};

/** The groupings of the API, as options of a list. */
export const GROUPINGS: readonly (readonly [name: string, label: string])[] = Object.entries(LABELS).filter(
  ([name]) => Object.hasOwn(REPORT_DIMENSIONS, name),
);

/** The groupings of devices. */
export const DEVICE_GROUPINGS = GROUPINGS.filter(([name]) => isDeviceGroup(name));

export function isDeviceGroup(name: string): name is (typeof DEVICE_GROUPS)[number] {
  return DEVICE_GROUPS.some((group) => group === name);
}

export const groupLabel = (name: string): string => LABELS[name] ?? name;

/** The same, within a sentence. */
export const groupWord = (name: string): string =>
  groupLabel(name)
    .split(' ')
    .map((word) => (/^[A-Z]+$/.test(word) ? word : word.toLowerCase()))
    .join(' ');

export const isTimeGroup = (name: string): boolean => ['hour', 'day', 'week', 'month'].includes(name);

const FILTER_OF: Readonly<Record<string, FilterName>> = {
  campaign: 'campaign_id',
  adset: 'adset_id',
  creative: 'creative_id',
  ...ofDimensions(SEGMENT_DIMENSIONS, (name) => name),
};
const NAMED = new Set(['campaign', 'adset', 'creative']);

export type GroupRow = Record<string, CellValue | object>;

/** The name of a row's group. `today` is needed for groups by time. */
export function groupName(name: string, row: GroupRow, today = ''): string {
  const value = row[name];
  if (row.is_other) return 'Everything else';
  if (row.is_unallocated) return 'Unallocated';
  if (isTimeGroup(name)) return placeText(name, String(value), today);
  return valueName(name as DimensionName, String(value ?? ''));
}

/** The days of a row's hour (`2026-11-01T01:00:00-04:00`), day, week (`2026-W47`) or month; null for anything else. */
export function daysOfRow(name: string, value: CellValue | object): DayRange | null {
  if (typeof value !== 'string') return null;
  if (name === 'hour') return { from: value.slice(0, 10), to: value.slice(0, 10) };
  if (name === 'day') return { from: value, to: value };
  if (name === 'month') return { from: `${value}-01`, to: endOfMonth(value) };
  if (name !== 'week') return null;
  const from = mondayOfWeek(value);
  return { from, to: addDays(from, 6) };
}

/** The changes that narrow a view to a row's group; null if no filter matches it. */
function narrowedTo(view: View, name: string, row: GroupRow): ViewChanges | null {
  const filter = FILTER_OF[name];
  const value = row[name];
  if (!isOfGroup(row)) return null;
  const days = daysOfRow(name, value);
  if (days) {
    // Not beyond the view, because the row covers only the view's days.
    const from = days.from < view.from ? view.from : days.from;
    const to = days.to > view.to ? view.to : days.to;
    return { period: 'custom', from, to };
  }
  if (!filter) return null;
  if (!NAMED.has(name))
    return typeof value === 'string' && value !== '' ? withFilter(view, filter, value) : null;
  const id = row[`${name}_id`];
  if (typeof id === 'string') return withFilter(view, filter, id);
  // A name without an id occurs only in uploaded costs.
  return value === null || value === undefined ? withFilter(view, 'attribution', 'organic') : null;
}

const titleOf = (row: GroupRow, text: string) =>
  row.is_unallocated ? 'What belongs to none of these rows: with it, they add up to the total' : text;

/** The name of a row's group, as a link that narrows the page to it. */
export const GroupCell = ({ view, path, carry = {}, name, row }: Here & { name: string; row: GroupRow }) => {
  const text = groupName(name, row, view.today);
  const changes = narrowedTo(view, name, row);
  if (!changes) {
    return (
      <span
        class={isOfGroup(row) ? 'group' : `group muted${row.is_unallocated ? ' apart' : ''}`}
        title={titleOf(row, text)}
      >
        <bdi>{cutMiddle(text)}</bdi>
      </span>
    );
  }
  return (
    <a
      class="group"
      href={path + viewQuery(view, { ...carry, ...changes })}
      title={`Filter by ${isolate(text)}`}
    >
      <bdi>{cutMiddle(text)}</bdi>
    </a>
  );
};
