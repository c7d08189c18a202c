import { AMOUNTS, COUNTS, OF_ACQUIRED, OF_COSTS, OF_STATED_IMPRESSIONS, type Sums } from '#catalogue';
import { database } from '#db';
import { invalidRequest } from '#http';
import { addDays } from '#lib/time';
import type { CubeStores } from '#rollup';
import { isNamed, knowsSpendIn } from '../dimensions.ts';
import { CreativeNames } from '../names.ts';
import type { Reported } from '../query.ts';
import { Acquired, type RankedPlaces } from './acquired.ts';
import { type Chunk, latestFirst } from './chunk.ts';
import { hasCosts, scanCosts } from './cost-scan.ts';
import { scanCube } from './cube-query.ts';
import { conversionsOf, DayRates, END_OF_TIME } from './day-rates.ts';
import { emptySums, GroupTable, type Weight } from './group-table.ts';
import { CUT_OFF, Groups, NONE } from './groups.ts';
import { type Cut, type GroupQuestion, MAX_GROUPS, matches, REST, rollupFor, timesOf } from './question.ts';
import { readStatedDays, withoutStated } from './stated-impressions.ts';

// The groups of the performance report are added up in the Worker, in bounded memory, from chunks of the cube, hours and costs.

export type GroupSums = {
  /** By group key; `REST` for all groups without a row of their own. */
  groups: Map<string, Sums>;
  cut: Cut | null;
  /** Sums of all rows that match the filters, whether or not they are in a group. */
  total: Sums;
  /** What of the total is in no group: `null` if the total was not asked for. Distinct devices and ratios have no such part. */
  unplaced: Sums | null;
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
  const { groups, cut, total, unplaced } = await readGroupSums(stores, application, {
    ...question,
    wantsCosts,
    wantsAcquired,
    wantsStated: wantsAny(OF_STATED_IMPRESSIONS),
  });
  if (!wantsTotals) return { groups, cut, total: emptySums(), unplaced: null };
  // Only the rollup by day has every measure, and not every grouping has costs.
  const isByDay = rollupFor(names) === 'rollup_daily' && !(names.includes('hour') && untilHour === undefined);
  if (isByDay && (!(wantsCosts || wantsAcquired) || hasCosts(names))) return { groups, cut, total, unplaced };
  const whole = await readReportSums(stores, application, { ...question, names: [], limit: 1, q: undefined });
  return {
    ...{ groups, cut, total: whole.total },
    unplaced: unplaced && (lacksPayments(names) ? withDifference(unplaced, whole.total, total) : unplaced),
  };
}

/** Whether figures by these groupings lack what only stores tell of payments. */
const lacksPayments = (names: ReportQuestion['names']) =>
  names.some((name) => name === 'hour' || name === 'item');

/** Sums with those that `whole` has more than `part`, such as payments without an hour. */
function withDifference(sums: Sums, whole: Sums, part: Sums): Sums {
  const currencies = [sums, whole, part].flatMap(({ unconverted }) => [...unconverted.keys()]);
  const lackedBy = ({ unconverted }: Sums, currency: string) => unconverted.get(currency) ?? 0n;
  return {
    ...sums,
    ...Object.fromEntries(COUNTS.map((name) => [name, sums[name] + whole[name] - part[name]])),
    ...Object.fromEntries(AMOUNTS.map((name) => [name, sums[name] + whole[name] - part[name]])),
    unconverted: new Map(
      currencies.map((currency) => [
        currency,
        lackedBy(sums, currency) + lackedBy(whole, currency) - lackedBy(part, currency),
      ]),
    ),
  };
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
      const groups = new Groups(asked, { pass, passes, creatives });
      await addChunks(groups, rates, stores, application.id, asked);
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
  rates: DayRates,
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
      ? latestFirst(figures, scanCosts(stores.DB, { ...asked, applicationId }), asked.to)
      : figures;
  const { table } = groups;
  for await (const chunk of chunks) {
    const conversions = await conversionsOf(rates, chunk);
    const found = await groups.find(chunk);
    if (chunk.isOfCosts) table.addCosts(found, chunk, conversions);
    else {
      table.addEntries(found, chunk, conversions);
      table.addAttributed(groups.lookup.paidAmong(chunk), chunk);
    }
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

/** `group` is its number in the ranking's own table. */
type Ranked = Weight & { key: string; times: string; group: number };

/** `total`, `rest` and `unplaced` are groups of `table`. */
type RankedSums = { table: GroupTable; total: number; rest: number; unplaced: number };
const rankedSums = (table: GroupTable): RankedSums => ({
  ...{ table, total: table.open(), rest: table.open(), unplaced: table.open() },
});

function byRank(left: Ranked, right: Ranked): number {
  if (left.times !== right.times) return isLater(left.times, right.times) ? -1 : 1;
  return (
    right.revenue - left.revenue ||
    right.impressions - left.impressions ||
    right.counts - left.counts ||
    right.spend - left.spend ||
    (left.key < right.key ? -1 : 1)
  );
}

/** Hours sort by instant: as text, the two hours when clocks are set back would be swapped. */
function isLater(left: string, right: string): boolean {
  const [one, other] = [Date.parse(left), Date.parse(right)];
  return left.includes('T') && one !== other ? one > other : left > right;
}

/** The largest groups of all passes, the sums of all other groups, and the totals. */
class Ranking {
  private readonly asked: GroupQuestion;
  private readonly passes: number;
  private sums: RankedSums | null = null;
  private ranked: Ranked[] = [];
  private matching = 0;
  private hasRest = false;
  private ranking: { cut: Cut | null; kept: Map<string, number> } | null = null;

  constructor(asked: GroupQuestion, passes: number) {
    this.asked = asked;
    this.passes = passes;
  }

  /** Takes the groups of a pass. Of several passes, it copies the groups that may get a row, so that only these stay in memory. */
  take({ table, values, cutOffGroups }: Groups): void {
    const { names, limit, keepsRequests = false } = this.asked;
    const size = table.size;
    const isOnly = this.passes === 1;
    this.sums ??= rankedSums(isOnly ? table : new GroupTable(rollupFor(names)));
    for (let group = 0; group < size; group++) this.table.addGroup(this.sums.total, table, group);
    this.table.addGroup(this.sums.unplaced, table, NONE);
    this.matching += cutOffGroups;
    if (cutOffGroups > 0) this.addToRest(table, CUT_OFF);
    const found: Ranked[] = [];
    for (let group = 0; group < size; group++) {
      const own = values[group];
      if (!own) continue;
      const weight = table.weightOf(group);
      const isRequest = names.includes('media_source') && weight.impressions === 0;
      if (isRequest && !keepsRequests) continue;
      if (!matches(own, this.asked)) {
        this.addToRest(table, group);
        continue;
      }
      this.matching++;
      found.push({ ...weight, key: JSON.stringify(own), times: timesOf(own, names), group });
    }
    found.sort(byRank);
    for (const { group } of found.slice(limit + 1)) this.addToRest(table, group);
    const kept = found.slice(0, limit + 1);
    this.ranked = [...this.ranked, ...(isOnly ? kept : this.copied(kept, table))].sort(byRank);
    for (const { group } of this.ranked.splice(limit + 1)) this.addToRest(this.table, group);
  }

  /** Copies groups of a pass into the ranking's table. */
  private copied(groups: readonly Ranked[], from: GroupTable): Ranked[] {
    return groups.map((one) => {
      const group = this.table.open();
      this.table.addGroup(group, from, one.group);
      return { ...one, group };
    });
  }

  private get own(): RankedSums {
    if (!this.sums) throw new Error('No groups were taken yet');
    return this.sums;
  }

  get table(): GroupTable {
    return this.own.table;
  }

  private addToRest(table: GroupTable, group: number): void {
    this.hasRest = true;
    this.table.addGroup(this.own.rest, table, group);
  }

  /** Decides which groups have a row. To be called after the last pass. */
  finish(): void {
    const { limit, q = '' } = this.asked;
    const kept = new Map(this.ranked.slice(0, limit).map(({ key, group }) => [key, group]));
    const firstCut = this.ranked[limit];
    if (firstCut) this.addToRest(this.table, firstCut.group);
    const isWhole = q === '' && kept.size === this.matching;
    this.ranking = { cut: isWhole ? null : { firstCut: firstCut?.key ?? null, total: this.matching }, kept };
  }

  private get finished() {
    if (!this.ranking) throw new Error('The groups are not ranked yet');
    return this.ranking;
  }

  /** Whether anything was spent on a group, or on all others together. */
  get hasSpend(): boolean {
    const { kept, rest, total } = this.places;
    return [...kept.values(), rest, total].some((group) => this.table.hasSpend(group));
  }

  /** The numbers in `table` of the groups that have a row, by key, and of all others together. */
  get places(): RankedPlaces {
    return { kept: this.finished.kept, rest: this.own.rest, total: this.own.total };
  }

  /** `storeFeeBasisPoints` are hundredths of a percent. `moreOf` are sums of a group that its table does not have. */
  read(storeFeeBasisPoints: number, moreOf: (group: number) => Partial<Sums>): GroupSums {
    const { cut, kept } = this.finished;
    const sumsOf = (group: number): Sums => ({
      ...this.table.sumsOf(group),
      ...moreOf(group),
      storeFeeBasisPoints,
    });
    const groups = new Map([...kept].map(([key, group]) => [key, sumsOf(group)]));
    if (this.hasRest) groups.set(REST, sumsOf(this.own.rest));
    const { total, unplaced } = this.own;
    return {
      groups,
      cut,
      total: sumsOf(total),
      unplaced: { ...this.table.sumsOf(unplaced), storeFeeBasisPoints },
    };
  }
}
