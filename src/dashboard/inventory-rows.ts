import { listInventory, MAX_INVENTORY } from '#creatives';
import { database } from '#db';
import { MAX_FILTER_VALUES } from '#http';
import { PerformanceQuery, type PerformanceReport, reportPerformance } from '#reports';
import { withBefore } from './change-columns.tsx';
import { type ComparedReport, readCompared } from './compared.tsx';
import type { DashboardContext } from './guard.ts';
import { type Asked, COLUMN_SETS, comparedMetric, type Figures, type Row } from './inventory-table.tsx';
import { METRIC_NAMES, type MetricName, nothingOf, sortRows } from './metrics.ts';
import { ask, viewAsked } from './report.tsx';
import type { View } from './view.ts';

/** The figures of an item without any data. */
const NO_FIGURES = Object.fromEntries(METRIC_NAMES.map((name) => [name, nothingOf(name)])) as Record<
  MetricName,
  number | null
>;

/** The metrics that the page shows or sorts by. Spend alone makes a row, too. */
function metricsOf(asked: Asked): MetricName[] {
  const sorted = METRIC_NAMES.filter((name) => name === asked.sort.replace(/^-/, ''));
  return [
    ...new Set<MetricName>([...COLUMN_SETS[asked.set].metrics, ...sorted, comparedMetric(asked), 'spend']),
  ];
}

/** Every item of the application at this level, with its figures for the period, in the requested order. */
export async function readRows(c: DashboardContext, view: View, asked: Asked, now: number) {
  const { level, status, q } = asked;
  const { campaign_id, adset_id, creative_id } = view.filters;
  const query = {
    ...ask(PerformanceQuery, { ...viewAsked(view), group_by: level }),
    limit: MAX_INVENTORY,
    metrics: metricsOf(asked),
  };
  const [items, report] = await Promise.all([
    listInventory(database(c.env.DB), view.application.id, {
      level,
      q,
      campaign_id,
      adset_id,
      creative_id,
      ...(level === 'creative' && (status === 'active' || status === 'archived')
        ? { archived: status === 'archived' }
        : {}),
    }),
    // The inventory defines the list, so the report must not group any of it under `other`.
    reportPerformance(c.env, view.application, query, now),
  ]);
  const figures = new Map(report.data.map((row) => [row[`${level}_id`], row]));
  const rows = items.flatMap((item): Row[] => {
    const found = figures.get(item.id);
    if (status === 'silent' && found) return [];
    return [{ item, figures: found }];
  });
  const sortable = rows.map((row) => ({
    ...row.figures,
    row,
    name: row.item.name,
    created: row.item.createdAt,
  }));
  return { rows: sortRows(sortable, asked.sort).map(({ row }) => row), report };
}

/**
 * The figures of items with the earlier value of the compared metric and its change, by id, and which days are compared. Items without figures
 * in one of the periods have 0 there. A page's items are compared alone, so that a page of a large inventory does not read all of it twice.
 */
export async function compareRows(
  c: DashboardContext,
  view: View,
  asked: Asked,
  { rows, report }: { rows: readonly Row[]; report: PerformanceReport },
  now: number,
): Promise<{ compared: ComparedReport; byId: Map<string, Figures> }> {
  const { level } = asked;
  const metric = comparedMetric(asked);
  const ids = rows.map(({ item }) => item.id);
  const isPage = ids.length > 0 && ids.length <= MAX_FILTER_VALUES;
  const filters = isPage ? { ...view.filters, [`${level}_id`]: ids } : view.filters;
  const compared = await readCompared(
    c.env,
    { ...view, filters },
    { group_by: level, limit: MAX_INVENTORY, metrics: [metric], totals: false },
    now,
    { complete: 'rows', metric, report },
  );
  const data = rows.map(
    ({ item, figures }): Figures => figures ?? { ...NO_FIGURES, [`${level}_id`]: item.id },
  );
  const shown = withBefore([level], metric, view, { ...compared, report: { ...report, data } });
  return { compared, byId: new Map(shown.map((row) => [String(row[`${level}_id`]), row])) };
}

/** The totals of search results, computed by a report because of the ratios; null if there are too many results to query. */
export async function readFoundTotals(
  c: DashboardContext,
  view: View,
  { level }: Asked,
  rows: readonly Row[],
  now: number,
): Promise<PerformanceReport['totals'] | null> {
  const ids = rows.flatMap(({ item, figures }) => (figures ? [item.id] : []));
  if (ids.length === 0 || ids.length > MAX_FILTER_VALUES) return null;
  const query = ask(PerformanceQuery, { ...viewAsked(view), [`${level}_id`]: ids, group_by: 'month' });
  return (await reportPerformance(c.env, view.application, query, now)).totals;
}
