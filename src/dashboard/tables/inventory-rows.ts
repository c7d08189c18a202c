import {
  countInventory,
  INVENTORY_LEVELS,
  type InventoryQuery,
  listInventory,
  MAX_INVENTORY,
} from '#creatives';
import { database, type InventoryLevel } from '#db';
import { MAX_FILTER_VALUES, readAs } from '#http';
import { PerformanceQuery, type PerformanceReport, type PerformanceRow, reportPerformance } from '#reports';
import { isRestricted } from '../shell/guard.ts';
import type { DashboardContext } from '../shell/page-record.ts';
import { viewAsked } from '../shell/report.tsx';
import type { View } from '../shell/view.ts';
import { type ComparedReport, comparedTotal, readCompared } from './compared.tsx';
import {
  comparedMetric,
  type InventoryRequest,
  type InventoryRow,
  isByChange,
  isWhole,
  metricsIn,
  networksText,
} from './inventory-table.tsx';
import { earlierOf } from './lacking.tsx';
import { METRIC_NAMES, type MetricName, nothingOf, sortRows } from './metrics.ts';
import { comparedPeriods } from './part-of-day.ts';
import { changesIn, rowWithChange, withBefore } from './row-changes.ts';

/** The figures of an item without any data. */
const NO_FIGURES = Object.fromEntries(METRIC_NAMES.map((name) => [name, nothingOf(name)])) as Record<
  MetricName,
  number | null
>;

/** The metrics that the page shows or sorts by. Spend alone makes a row, too. */
function metricsOf(asked: InventoryRequest): MetricName[] {
  const sorted = METRIC_NAMES.filter((name) => name === asked.sort.replace(/^-/, ''));
  return [...new Set<MetricName>([...metricsIn(asked), ...sorted, comparedMetric(asked), 'spend'])];
}

/** What the view and the request select of an application's inventory. */
const inventoryOf = ({ filters }: View, { level, q }: InventoryRequest): InventoryQuery => {
  const { campaign_id, adset_id, creative_id } = filters;
  return { level, q, campaign_id, adset_id, creative_id };
};

/** The number of items at each level but the requested one, as far as it is known without their figures. */
export async function countOthers(
  c: DashboardContext,
  view: View,
  asked: InventoryRequest,
): Promise<Map<InventoryLevel, number>> {
  const db = database(c.env.DB);
  const others = INVENTORY_LEVELS.filter(
    (level) => level !== asked.level && !(level === 'creative' && view.filters.network),
  );
  if (isRestricted(c.get('person'), view)) return new Map();
  return new Map(
    await Promise.all(
      others.map(async (level) => {
        const query = inventoryOf(view, { ...asked, level });
        return [level, await countInventory(db, view.application.id, query)] as const;
      }),
    ),
  );
}

/** Every item of the application at this level, with its figures for the period, in the requested order. `isCut`: there are older items, which are not read. */
export async function readRows(c: DashboardContext, view: View, asked: InventoryRequest) {
  const { level, status } = asked;
  const query = {
    ...readAs(PerformanceQuery, {
      ...viewAsked(view),
      group_by: level,
    }),
    limit: MAX_INVENTORY,
    metrics: metricsOf(asked),
  };
  const [found, report] = await Promise.all([
    listInventory(database(c.env.DB), view.application.id, {
      ...inventoryOf(view, asked),
      ...(level === 'creative' && (status === 'active' || status === 'archived')
        ? { archived: status === 'archived' }
        : {}),
    }),
    // The inventory defines the list, so the report must not group any of it under `other`.
    reportPerformance(c.env, view.application, query, view.now),
  ]);
  // Countries and the like do not divide the inventory, only its figures; networks divide both.
  const restricted = isRestricted(c.get('person'), view);
  const networks = level === 'creative' && view.filters.network;
  const figures = new Map(report.data.map((row) => [row[`${level}_id`], row]));
  const rows = found.slice(0, MAX_INVENTORY).flatMap((item): InventoryRow[] => {
    const own = figures.get(item.id);
    if (restricted && !own) return [];
    if (networks && !own && !item.networks.some((name) => networks.includes(name))) return [];
    if (status === 'silent' && own) return [];
    return [{ item, figures: own }];
  });
  return { rows, report, isCut: found.length > MAX_INVENTORY };
}

/** Items in the requested order. An order by change needs `compared`, the rows of `compareRows`; without a comparison, it is by the metric. */
export function sortItems(
  rows: readonly InventoryRow[],
  asked: InventoryRequest,
  compared: ReadonlyMap<string, PerformanceRow> = new Map(),
): InventoryRow[] {
  const metric = comparedMetric(asked);
  const sortable = rows.map((row) => ({
    ...row.figures,
    ...changesIn(compared.get(row.item.id), metric),
    row,
    name: row.item.name,
    network: networksText(row.item) || null,
    created: row.item.createdAt,
  }));
  const direction = asked.sort.startsWith('-') ? '-' : '';
  const isKnown = !isByChange(asked) || sortable.some((row) => asked.sort.slice(direction.length) in row);
  return sortRows(sortable, isKnown ? asked.sort : direction + metric).map(({ row }) => row);
}

/**
 * The figures of items with the earlier value of the compared metric and its change, by id, and which days are compared. Items without figures
 * in one of the periods have 0 there. A page's items are compared alone, so that a page of a large inventory does not read all of it twice.
 */
export async function compareRows(
  c: DashboardContext,
  view: View,
  asked: InventoryRequest,
  { rows, report }: { rows: readonly InventoryRow[]; report: PerformanceReport },
): Promise<{ compared: ComparedReport; byId: Map<string, PerformanceRow> }> {
  const { level } = asked;
  const metric = comparedMetric(asked);
  const ids = rows.map(({ item }) => item.id);
  const isPage = ids.length > 0 && ids.length <= MAX_FILTER_VALUES;
  const filters = isPage ? { ...view.filters, [`${level}_id`]: ids } : view.filters;
  const compared = await readCompared(
    c.env,
    { ...view, filters },
    { group_by: level, limit: MAX_INVENTORY, metrics: [metric], totals: false },
    { compares: metricsOf(asked), metric, report },
  );
  const data = rows.map(
    ({ item, figures }): PerformanceRow => figures ?? { ...NO_FIGURES, [`${level}_id`]: item.id },
  );
  const shown = withBefore([level], metric, view, { ...compared, report: { ...report, data } });
  return { compared, byId: new Map(shown.map((row) => [String(row[`${level}_id`]), row])) };
}

/**
 * The totals of the list with the earlier value of the compared metric and its change. Those of a search are computed by a report, because of the
 * ratios; null if there are too many results to query. Results without figures count only in the earlier value, and only if all can be queried.
 */
export async function readTotals(
  c: DashboardContext,
  view: View,
  asked: InventoryRequest,
  { rows, report }: { rows: readonly InventoryRow[]; report: PerformanceReport },
): Promise<PerformanceRow | null> {
  const metric = comparedMetric(asked);
  const wanted = { compares: metricsOf(asked), metric, onlyTotals: true };
  const read = async (of: View, known?: PerformanceReport) => {
    const compared = await readCompared(
      c.env,
      of,
      { group_by: asked.level, metrics: metricsOf(asked) },
      { ...wanted, report: known },
    );
    const was = earlierOf(metric, compared.before?.totals);
    return rowWithChange(compared.report.totals, metric, was, comparedTotal(compared, metric));
  };
  if (isWhole(asked)) return read(view, report);
  const active = rows.filter(({ figures }) => figures);
  if (active.length === 0 || active.length > MAX_FILTER_VALUES) return null;
  const hasAll = rows.length <= MAX_FILTER_VALUES;
  const ids = (hasAll ? rows : active).map(({ item }) => item.id);
  const filters = { ...view.filters, [`${asked.level}_id`]: ids };
  const uncompared = {
    ...comparedPeriods(view, [asked.level], wanted.compares)?.now,
    comparison: 'none',
  } as const;
  return read({ ...view, filters, ...(hasAll ? {} : uncompared) });
}
