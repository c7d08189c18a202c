import { OF_ACQUIRED, OF_SPEND, type Sums } from '#catalogue';
import { Adder, emptySums } from './adder.ts';
import { rollupFor } from './block-question.ts';
import { readBlockSums } from './block-sums.ts';
import { hasCosts } from './cost-scan.ts';
import { isBySegment, needsBlocks } from './dimensions.ts';
import { isByCreative } from './filters.ts';
import { converterFor } from './money.ts';
import type { Reported } from './query.ts';
import { totalSources } from './sources.ts';
import { readSums } from './sums.ts';
import { readTableSums, type TableQuestion, type TableSums } from './table-sums.ts';

type ReportQuestion = TableQuestion & {
  /** The last day ends at this hour of the clock. */
  untilHour?: number | undefined;
};

/** The sums of the performance report's groups, and of all of them together. */
export async function readReportSums(
  db: D1Database,
  application: Reported,
  question: ReportQuestion,
): Promise<TableSums> {
  const { names, filters, metrics, wantsTotals, untilHour } = question;
  if (!needsBlocks(names, filters) && untilHour === undefined) {
    return readTableSums(db, application, question);
  }
  // Segments have no spend.
  const wants = (metric: string) => !isBySegment(filters) && metrics.some((name) => name === metric);
  const found = await readBlockSums(db, application, {
    ...question,
    wantsSpend: OF_SPEND.some(wants),
    wantsAcquired: OF_ACQUIRED.some(wants),
  });
  const { groups, cut } = found;
  if (!wantsTotals) return { groups, cut, total: emptySums() };
  // Only the rollup by day has every measure.
  const isOfDays =
    rollupFor(names) === 'rollup_daily' && !(names.includes('hour') && untilHour === undefined);
  const hasTotal = isOfDays && (hasCosts(names) || !isByCreative(filters) || !OF_ACQUIRED.some(wants));
  if (!hasTotal) {
    const whole = await readReportSums(db, application, { ...question, names: [], limit: 1, q: undefined });
    return { groups, cut, total: whole.total };
  }
  const isLacking = (kind: string) => {
    if (isBySegment(filters)) return false;
    return (
      (kind === 'costs' && !hasCosts(names)) ||
      (kind === 'acquired' && !found.hasAcquired && !isByCreative(filters))
    );
  };
  const lacking = totalSources(metrics).filter(({ source }) => isLacking(source.kind));
  return { groups, cut, total: await addSources(db, application, question, lacking, found.total) };
}

/** Adds sources that only the totals have to the sums of the groups. */
async function addSources(
  db: D1Database,
  application: Reported,
  question: ReportQuestion,
  sources: ReturnType<typeof totalSources>,
  found: Sums,
): Promise<Sums> {
  if (sources.length === 0) return found;
  const asked = { ...question, applicationId: application.id, teamId: application.teamId };
  const read = await readSums(db, sources, asked);
  const rows = read.flatMap((one) => one.rows);
  const amounts = rows.flatMap((row) => row.amounts);
  const converter = await converterFor(db, application, question.reporting, amounts);
  const total = new Adder();
  total.addSums(found);
  for (const row of rows) total.add(row, converter);
  return total.sums();
}
