import type { Child } from 'hono/jsx';
import { SEGMENT, valueName } from '#catalogue';
import { INVENTORY_LEVELS, type InventoryItem } from '#creatives';
import type { InventoryLevel } from '#db';
import { isolate } from '#lib/input/isolate';
import { dayIn } from '#lib/time';
import type { PerformanceRow } from '#reports';
import { CopyButton } from '../shell/copyable.tsx';
import { dateText } from '../shell/dates.ts';
import type { DashboardContext } from '../shell/page-record.ts';
import { cutMiddle, NamePath } from '../shell/parts.tsx';
import { searchOf } from '../shell/report.tsx';
import { type View, viewQuery } from '../shell/view.ts';
import { readColumns } from './columns.tsx';
import { ChangePill } from './compared.tsx';
import { figureColumn } from './figure-column.tsx';
import { groupLabel } from './groups.tsx';
import { MetricCell } from './lacking.tsx';
import {
  firstOrder,
  headingsOf,
  METRIC_DEFINITIONS,
  METRIC_NAMES,
  type MetricName,
  placesOf,
  SHOWN_METRICS,
} from './metrics.ts';
import { areCompared, changeOrder, earlierIn } from './row-changes.ts';
import type { Column } from './table.tsx';

/** The levels of the inventory, in the plural. */
export const LABELS: Record<InventoryLevel, string> = {
  campaign: 'Campaigns',
  adset: 'Ad sets',
  creative: 'Creatives',
};

export const STATUSES = [
  ['all', 'All'],
  ['active', 'Active'],
  ['archived', 'Archived'],
  ['silent', 'No data in this period'],
] as const;

/** Sets of metrics for the most common questions, and one with all that need not be chosen one by one. */
export const COLUMN_SETS = {
  acquisition: {
    label: 'Acquisition',
    metrics: ['clicks', 'installs', 'spend', 'cpi', 'revenue', 'profit', 'roas'],
  },
  monetisation: {
    label: 'Monetization',
    metrics: ['revenue', 'ad_revenue', 'purchase_revenue', 'payers', 'dau', 'arpdau', 'ecpm'],
  },
  returns: {
    label: 'Returns',
    metrics: [
      ...(['installs', 'spend', 'profit', 'roas', 'roas_d0', 'roas_d7', 'roas_d30'] as const),
      ...(['ltv_d7', 'retention_d1', 'retention_d7'] as const),
    ],
  },
  net: {
    label: 'Net of refunds and fees',
    metrics: ['installs', 'spend', 'revenue', 'refunds', 'refunded_revenue', 'net_revenue', 'roas_net'],
  },
  all: { label: 'All metrics', metrics: SHOWN_METRICS },
} as const satisfies Record<string, { label: string; metrics: readonly MetricName[] }>;
type ColumnSetName = keyof typeof COLUMN_SETS;

/** An item and its figures, which are undefined if the period has none. */
export type InventoryRow = { item: InventoryItem; figures: PerformanceRow | undefined };

export type InventoryRequest = ReturnType<typeof readAsked>;

export const metricsIn = ({ columns, set }: InventoryRequest): readonly MetricName[] =>
  columns ?? COLUMN_SETS[set].metrics;

/** The page's URL parameters, parsed. */
export function readAsked(c: DashboardContext) {
  const { by = '', status = '', set = '', sort = '-revenue', page = '' } = c.req.query();
  return {
    level: INVENTORY_LEVELS.find((name) => name === by) ?? 'creative',
    status: STATUSES.find(([name]) => name === status)?.[0] ?? 'all',
    set: Object.hasOwn(COLUMN_SETS, set) ? (set as ColumnSetName) : 'acquisition',
    /** The metrics that were chosen one by one; null for those of the set. */
    columns: readColumns(c),
    sort,
    q: searchOf(c),
    page: Math.max(1, Number.parseInt(page, 10) || 1),
  };
}

/** The end of an order by the earlier value of a metric or by its change, such as `-revenue_change`. */
const CHANGE = /_(before|change)$/;
export const isByChange = ({ sort }: InventoryRequest): boolean => CHANGE.test(sort);

/** The metric to compare with an earlier period: the one the list is sorted by. */
export const comparedMetric = (asked: InventoryRequest): MetricName =>
  metricsIn(asked).find((name) => name === asked.sort.replace(/^-/, '').replace(CHANGE, '')) ?? 'revenue';

/** Whether the list has every item, so that its totals are those of the application. */
export const isWhole = ({ q, status }: InventoryRequest): boolean => q === '' && status === 'all';

/** The page's own URL parameters. Defaults are left out. */
export const parametersOf = ({
  level,
  status,
  set,
  columns,
  sort,
  q,
}: InventoryRequest): Record<string, string | readonly string[]> => ({
  column: columns ?? [],
  by: level === 'creative' ? '' : level,
  status: status === 'all' ? '' : status,
  set: set === 'acquisition' ? '' : set,
  sort: sort === '-revenue' ? '' : sort,
  q,
});

/** Colours of the pictures that stand for creatives. */
const THUMBS = 5;

/** A square that makes a creative easier to find again. It keeps its colour. */
const Thumb = ({ id }: { id: string }) => (
  <span class={`thumb t${Number.parseInt(id.slice(-4), 16) % THUMBS}`} aria-hidden="true" />
);

/** Where an item leads: one level down, or to the creative's page. */
export const itemAddress = (view: View, level: InventoryLevel, id: string): string =>
  level === 'creative'
    ? `/creatives/${id}${viewQuery(view)}`
    : `/creatives${viewQuery(view, { by: level === 'campaign' ? 'adset' : '', [`${level}_id`]: id })}`;

/** A name, linked one level down or to the creative's page. The style sheet cuts long names; their title is complete. */
const NameCell = ({ view, asked, item }: { view: View; asked: InventoryRequest; item: InventoryItem }) => {
  const { level } = asked;
  const within = [item.campaign, item.adset].filter((name) => name !== null);
  return (
    <div class="name-cell">
      {level === 'creative' && <Thumb id={item.id} />}
      <div>
        <a class="cut" dir="auto" href={itemAddress(view, level, item.id)} title={item.name}>
          {cutMiddle(item.name)}
        </a>
        {within.length > 0 && (
          <span class="cut muted" title={within.join(' › ')}>
            <NamePath names={within} />
          </span>
        )}
      </div>
      {item.archived && <span class="badge">Archived</span>}
    </div>
  );
};

/** The names of an item's networks; empty if none is known. */
export const networksText = ({ networks }: InventoryItem): string =>
  networks.map((network) => valueName('network', network)).join(', ');

/** The columns of the inventory's table. `links` are the tracking links of creatives, `compared` the rows of `compareRows`, both by id. */
export function columnsOf(
  view: View,
  asked: InventoryRequest,
  rows: readonly InventoryRow[],
  links: ReadonlyMap<string, string>,
  compared: ReadonlyMap<string, PerformanceRow>,
): Column<InventoryRow>[] {
  const metric = comparedMetric(asked);
  const heading = headingsOf(
    asked.sort,
    (sort) => `/creatives${viewQuery(view, parametersOf({ ...asked, sort }))}`,
  );
  // First, because a phone shows little more.
  const metrics = [metric, ...metricsIn(asked).filter((name) => name !== metric)];
  const isCompared = areCompared([...compared.values()], metric);
  const earlierOf = ({ item }: InventoryRow) => earlierIn(compared.get(item.id), metric);
  const order = changeOrder('change', metric);
  const { sortHref: href, ...byChange } = heading(order, `-${order}`);
  const network: Column<InventoryRow> = {
    label: SEGMENT.network.label,
    wideOnly: true,
    ...heading('network', 'network'),
    cell: ({ item }) => networksText(item),
  };
  const link: Column<InventoryRow> = {
    label: 'Link',
    wideOnly: true,
    cell: ({ item }) => {
      const url = links.get(item.id);
      return url ? <CopyButton text={url} label={`the link of ${isolate(item.name)}`} /> : '';
    },
  };
  return [
    {
      label: groupLabel(asked.level),
      ...heading('name', 'name'),
      cell: ({ item }) => <NameCell view={view} asked={asked} item={item} />,
    },
    ...(rows.some(({ item }) => item.networks.length > 0) ? [network] : []),
    ...(links.size > 0 ? [link] : []),
    ...metrics.map((name): Column<InventoryRow> => {
      const isChanged = isCompared && name === metric;
      return {
        ...figureColumn(name, rows, view, ({ figures }) => figures, isChanged ? earlierOf : undefined),
        ...heading(name, firstOrder(name)),
        ...(isChanged ? { also: { label: 'change', href, ...byChange } } : {}),
      };
    }),
    {
      label: 'Created',
      wideOnly: true,
      ...heading('created', '-created'),
      cell: ({ item }) => dateText(dayIn(view.application.timezone, item.createdAt), view.today),
    },
  ];
}

/** The cells of the table's last row: the totals with their changes, below `columnsOf`. */
export function totalCells(
  view: View,
  asked: InventoryRequest,
  rows: readonly InventoryRow[],
  totals: PerformanceRow,
  columns: readonly Column<InventoryRow>[],
): Child[] {
  const metric = comparedMetric(asked);
  const isCompared = columns.some(({ also }) => also);
  const figure = (name: MetricName) => {
    const values = rows.map(({ figures }) => figures?.[name]);
    const places = placesOf(name, values, view.currency);
    return (
      <>
        <MetricCell name={name} row={totals} currency={view.currency} places={places} />
        {name === metric && isCompared && (
          <ChangePill
            name={name}
            now={totals[name]}
            earlier={earlierIn(totals, metric)}
            currency={view.currency}
          />
        )}
      </>
    );
  };
  const cells = new Map<string, Child>(
    METRIC_NAMES.map((name) => [METRIC_DEFINITIONS[name].label, figure(name)]),
  );
  return columns.map(({ label }, index) =>
    index === 0
      ? isWhole(asked)
        ? 'Total, including organic and unmatched spend'
        : 'Total of matches'
      : (cells.get(label) ?? ''),
  );
}
