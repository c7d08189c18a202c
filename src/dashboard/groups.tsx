import { DIMENSIONS } from '#reports';
import { valueLabel } from './filter-names.ts';
import { type FilterName, type View, type ViewChanges, viewQuery, withFilter } from './view.ts';

const LABELS: Record<string, string> = {
  day: 'Day',
  week: 'Week',
  month: 'Month',
  campaign: 'Campaign',
  adset: 'Ad set',
  creative: 'Creative',
  country: 'Country',
  os: 'OS',
  app_version: 'App version',
  source: 'Ad format',
  media_source: 'Network',
  placement: 'Placement',
  item: 'Item',
  event_name: 'Event name',
  currency: 'Currency',
};

/** What figures can be grouped by: what the API has, as it stands in a list. */
export const GROUPINGS: readonly (readonly [name: string, label: string])[] = Object.entries(LABELS).filter(
  ([name]) => Object.hasOwn(DIMENSIONS, name),
);

export const groupLabel = (name: string): string => LABELS[name] ?? name;

export const isTimeGroup = (name: string): boolean => ['day', 'week', 'month'].includes(name);

const FILTER_OF: Readonly<Record<string, FilterName>> = {
  campaign: 'campaign_id',
  adset: 'adset_id',
  creative: 'creative_id',
  country: 'country',
  os: 'os',
  app_version: 'app_version',
};
const NAMED = new Set(['campaign', 'adset', 'creative']);

type Value = string | number | boolean | null | undefined;
type Row = Record<string, Value>;

/** What a row's group is called. */
export function groupName(name: string, row: Row): string {
  const value = row[name];
  if (row.is_other) return 'Everything else';
  if (value === null || value === undefined || value === '') return NAMED.has(name) ? 'Organic' : 'None';
  const filter = FILTER_OF[name];
  return filter ? valueLabel(filter, String(value)) : String(value);
}

/** How the view changes when it is narrowed to a row's group; null where no filter stands for it. */
export function narrowedTo(view: View, name: string, row: Row): ViewChanges | null {
  const filter = FILTER_OF[name];
  const value = row[name];
  if (row.is_other) return null;
  if (name === 'day' && typeof value === 'string') return { period: 'custom', from: value, to: value };
  if (!filter) return null;
  if (!NAMED.has(name))
    return typeof value === 'string' && value !== '' ? withFilter(view, filter, value) : null;
  const id = row[`${name}_id`];
  if (typeof id === 'string') return withFilter(view, filter, id);
  // A name without an id stands in the uploaded costs only.
  return value === null || value === undefined ? withFilter(view, 'attribution', 'organic') : null;
}

/** The name of a row's group, as a link that narrows the page to it. */
export const GroupCell = ({
  view,
  path,
  carry = {},
  name,
  row,
}: {
  view: View;
  path: string;
  carry?: Record<string, string>;
  name: string;
  row: Row;
}) => {
  const text = groupName(name, row);
  const changes = narrowedTo(view, name, row);
  if (!changes) return <span class={row.is_other ? 'muted' : ''}>{text}</span>;
  return (
    <a class="group" href={path + viewQuery(view, { ...carry, ...changes })} title={`Filter by ${text}`}>
      {text}
    </a>
  );
};
