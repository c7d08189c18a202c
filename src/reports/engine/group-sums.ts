import { OF_ACQUIRED, OF_COSTS, OF_STATED_IMPRESSIONS, type Sums } from '#catalogue';
import { database } from '#db';
import { invalidRequest } from '#http';
import { addDays } from '#lib/time';
import type { CubeStores } from '#rollup';
import { isNamed, knowsSpendIn } from '../dimensions.ts';
import { CreativeNames } from '../names.ts';
import type { Reported } from '../query.ts';
import { Acquired } from './acquired.ts';
import { type Chunk, latestFirst } from './chunk.ts';
import { hasCosts, scanCosts } from './cost-scan.ts';
import { scanCube } from './cube-scan.ts';
import { DayRates, END_OF_TIME } from './day-rates.ts';
import { emptySums } from './group-table.ts';
import { Groups, Ranking } from './groups.ts';
import { type Cut, type GroupQuestion, MAX_GROUPS, rollupFor } from './question.ts';
import { readStatedDays, withoutStated } from './stated-impressions.ts';

// The groups of the performance report are added up in the Worker, in bounded memory, from chunks of the cube, hours and costs.

export type GroupSums = {
  /** By group key; `REST` for all groups without a row of their own. */
  groups: Map<string, Sums>;
  cut: Cut | null;
  /** Sums of all rows that match the filters, whether or not they are in a group. */
  total: Sums;
};

type ReportQuestion = Omit<GroupQuestion, 'wantsCosts' | 'wantsAcquired' | 'wantsStated'> & {
  /** What only other metrics need is not read. */
  metrics: readonly string[];
  wantsTotals: boolean;
};

/** The sums of the performance report's groups, and of all of them together. */
export async function readReportSums(
  stores: CubeStores,
  application: Reported,
  question: ReportQuestion,
): Promise<GroupSums> {
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

const MAX_PASSES = 16;

/**
 * Adds up the groups of a report and ranks them: latest first if it is by time, then by revenue, impressions, other counts and spend. The key
 * breaks ties. Throws `invalid_request` if there are too many groups even for `MAX_PASSES` passes.
 */
export async function readGroupSums(
  stores: CubeStores,
  application: Reported,
  asked: GroupQuestion,
): Promise<GroupSums> {
  const { names, from, to, reporting } = asked;
  const creatives = new CreativeNames(database(stores.DB), application.id, names.filter(isNamed));
  const ratesUntil = (last: string) =>
    new DayRates(stores.DB, { teamId: application.teamId, reporting, from, to: last });
  const { maxGroups = MAX_GROUPS } = asked;
  for (let passes = 1; passes <= MAX_PASSES; passes *= 2) {
    const ranking = new Ranking(asked, passes);
    const rates = ratesUntil(to);
    let pass = 0;
    for (; pass < passes; pass++) {
      const groups = new Groups(asked, { pass, passes, creatives, rates });
      await addChunks(groups, stores, application.id, asked);
      if (groups.isFull()) break;
      ranking.take(groups);
    }
    if (pass < passes) continue;
    ranking.finish();
    // Without spend there is nothing to compare with what devices have earned.
    const acquired =
      asked.wantsAcquired && hasCosts(names) && ranking.hasSpend
        ? new Acquired(ranking, names, { creatives, rates: ratesUntil(END_OF_TIME) })
        : null;
    if (acquired) await addAcquired(acquired, stores, application.id, asked);
    return ranking.read(application.storeFeeBasisPoints, (group) => acquired?.sumsOf(group) ?? {});
  }
  const message = `has more than ${maxGroups * MAX_PASSES} groups in this period; ask for fewer days or add a filter`;
  throw invalidRequest([{ path: 'group_by', message }]);
}

/** Adds the figures, and the costs if they are wanted, to the groups of a pass until they are full. */
async function addChunks(
  groups: Groups,
  stores: CubeStores,
  applicationId: string,
  asked: GroupQuestion,
): Promise<void> {
  const stated =
    asked.wantsStated && hasCosts(asked.names)
      ? await readStatedDays(stores.DB, { ...asked, applicationId })
      : null;
  const figures = stated
    ? withoutStated(
        scanFigures(stores, applicationId, { ...asked, names: [...asked.names, 'creative'] }),
        stated,
      )
    : scanFigures(stores, applicationId, asked);
  const chunks =
    asked.wantsCosts && hasCosts(asked.names)
      ? latestFirst(figures, scanCosts(stores.DB, { ...asked, applicationId }))
      : figures;
  for await (const chunk of chunks) {
    await groups.read(chunk);
    if (groups.isFull()) return;
  }
}

/** The figures of the period, from the cube or by hour. */
async function* scanFigures(
  stores: CubeStores,
  applicationId: string,
  { names, from, to, filters, untilHour }: GroupQuestion,
): AsyncGenerator<Chunk> {
  const byHour = names.includes('hour');
  const scan = { applicationId, filters, names };
  if (byHour || untilHour !== undefined) {
    yield* scanCube(stores, { ...scan, rollup: 'rollup_hours', from: byHour ? from : to, to, untilHour });
  }
  const last = untilHour === undefined ? to : addDays(to, -1);
  if (byHour || last < from) return;
  yield* scanCube(stores, { ...scan, rollup: rollupFor(names), from, to: last });
}

async function addAcquired(
  acquired: Acquired,
  stores: CubeStores,
  applicationId: string,
  { names, from, to, filters, through }: GroupQuestion,
): Promise<void> {
  const scan = { applicationId, rollup: 'cohort_revenue' as const, from, to, filters, through, names };
  for await (const chunk of scanCube(stores, scan)) await acquired.read(chunk);
  acquired.finish();
}
