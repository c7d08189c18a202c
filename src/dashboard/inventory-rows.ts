import { listInventory, MAX_INVENTORY } from '#creatives';
import { database } from '#db';
import { MAX_FILTER_VALUES } from '#http';
import { PerformanceQuery, type PerformanceReport, reportPerformance } from '#reports';
import type { DashboardContext } from './guard.ts';
import type { Asked, Row } from './inventory-table.tsx';
import { sortRows } from './metrics.ts';
import { ask, viewAsked } from './report.tsx';
import type { View } from './view.ts';

/** Every item of the application at this level, with its figures for the period, in the requested order. */
export async function readRows(c: DashboardContext, view: View, asked: Asked, now: number) {
  const { level, status, q } = asked;
  const { campaign_id, adset_id, creative_id } = view.filters;
  const query = ask(PerformanceQuery, { ...viewAsked(view), group_by: level });
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
    reportPerformance(c.env, view.application, { ...query, limit: MAX_INVENTORY }, now),
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
