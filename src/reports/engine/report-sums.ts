import { OF_ACQUIRED, OF_COSTS, OF_STATED_IMPRESSIONS, type Sums } from '#catalogue';
import type { CubeStores } from '#rollup';
import { knowsSpendIn } from '../dimensions.ts';
import type { Reported } from '../query.ts';
import { hasCosts } from './cost-scan.ts';
import type { Cut } from './cut.ts';
import { readGroupSums } from './group-sums.ts';
import { emptySums } from './group-table.ts';
import { type GroupQuestion, rollupFor } from './question.ts';

type ReportQuestion = Omit<GroupQuestion, 'wantsCosts' | 'wantsAcquired' | 'wantsStated'> & {
  /** What only other metrics need is not read. */
  metrics: readonly string[];
  wantsTotals: boolean;
};

export type ReportSums = {
  /** By group key; `REST` for all groups without a row of their own. */
  groups: Map<string, Sums>;
  cut: Cut | null;
  total: Sums;
};

/** The sums of the performance report's groups, and of all of them together. */
export async function readReportSums(
  stores: CubeStores,
  application: Reported,
  question: ReportQuestion,
): Promise<ReportSums> {
  const { names, filters, metrics, wantsTotals, untilHour } = question;
  const wantsAny = (some: readonly string[]) =>
    knowsSpendIn(filters) && some.some((name) => metrics.includes(name));
  const [wantsCosts, wantsAcquired] = [wantsAny(OF_COSTS), wantsAny(OF_ACQUIRED)];
  const { groups, cut, total } = await readGroupSums(stores, application, {
    ...question,
    wantsCosts,
    wantsAcquired,
    wantsStated: wantsAny(OF_STATED_IMPRESSIONS),
  });
  if (!wantsTotals) return { groups, cut, total: emptySums() };
  // Only the rollup by day has every measure, and not every grouping has costs.
  const isByDay = rollupFor(names) === 'rollup_daily' && !(names.includes('hour') && untilHour === undefined);
  if (isByDay && (!(wantsCosts || wantsAcquired) || hasCosts(names))) return { groups, cut, total };
  const whole = await readReportSums(stores, application, { ...question, names: [], limit: 1, q: undefined });
  return { groups, cut, total: whole.total };
}
