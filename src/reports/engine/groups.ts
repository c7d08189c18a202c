import type { Sums } from '#catalogue';
import { type DimensionName, isTime } from '../dimensions.ts';
import type { CreativeNames } from '../names.ts';
import { SKIPPED } from './add-columns.ts';
import type { Chunk } from './chunk.ts';
import { conversionsOf, type DayRates } from './day-rates.ts';
import { GroupCells, type Span } from './group-cells.ts';
import { GroupTable, type Weight } from './group-table.ts';
import { type Cut, type GroupQuestion, MAX_GROUPS, matches, REST, rollupFor, timesOf } from './question.ts';

/** Marks a group that is counted in another pass. */
const OTHER_PASS = SKIPPED;
/** The group numbers of rows without a group (`NONE`) and of rows whose groups are cut off by time (`CUT_OFF`). */
const NONE = 0;
const CUT_OFF = 1;
const FIRST_GROUP = 2;

/** The groups of one pass. */
export class Groups {
  readonly table: GroupTable;
  /** By group number; null for `NONE` and `CUT_OFF`. */
  readonly values: ((string | null)[] | null)[] = [null, null];
  /** The number of groups in `CUT_OFF`. */
  cutOffGroups = 0;
  private readonly asked: GroupQuestion;
  private readonly names: readonly DimensionName[];
  private readonly around: { pass: number; passes: number; creatives: CreativeNames; rates: DayRates };
  private readonly maxGroups: number;
  private readonly lookup: GroupCells;

  constructor(asked: GroupQuestion, around: Groups['around']) {
    const { names } = asked;
    this.asked = asked;
    this.names = names;
    this.around = around;
    this.maxGroups = asked.maxGroups ?? MAX_GROUPS;
    this.table = new GroupTable(rollupFor(names), FIRST_GROUP);
    this.lookup = new GroupCells(names, around.creatives, {
      group: (values, span) => this.groupOf(values, span),
      span: (span) => {
        span.isCutOff ||= this.isPastLimit(span);
      },
    });
  }

  /** Adds the entries of a chunk. The later the days of the first chunks, the fewer groups are opened. */
  async read(chunk: Chunk): Promise<void> {
    const { pass, rates } = this.around;
    const conversions = await conversionsOf(rates, chunk);
    const time = this.names.includes('hour') ? 'hour' : 'day';
    const groups = await this.lookup.find(chunk, time, pass === 0 ? NONE : OTHER_PASS);
    if (chunk.isOfCosts) {
      this.table.addCosts(groups, chunk, conversions);
      return;
    }
    this.table.addEntries(groups, chunk, conversions);
    this.table.addAttributed(this.lookup.paidAmong(chunk), chunk);
  }

  /**
   * Whether enough groups of later spans were found already: these rank first. In groupings by network, it is only known at the end which
   * groups have a row.
   */
  private isPastLimit({ time }: Span): boolean {
    const { names, limit, q, keepsRequests } = this.asked;
    if (!names.some(isTime) || q || (names.includes('media_source') && !keepsRequests)) return false;
    if (this.table.size - FIRST_GROUP <= limit) return false;
    let later = 0;
    for (const span of this.lookup.spans.values()) if (span.time > time) later += span.groups;
    return later > limit;
  }

  isFull(): boolean {
    return this.table.size > this.maxGroups;
  }

  private groupOf(values: (string | null)[], span: Span): number {
    const { pass, passes } = this.around;
    if (passOf(values, passes) !== pass) return OTHER_PASS;
    if (span.isCutOff) {
      this.cutOffGroups++;
      return CUT_OFF;
    }
    this.values.push(values);
    span.groups++;
    return this.table.open();
  }
}

/** FNV-1a, so that a group is counted in the same pass wherever it occurs. */
function passOf(values: readonly (string | null)[], passes: number): number {
  if (passes === 1) return 0;
  const key = JSON.stringify(values);
  let hash = 0x811c9dc5;
  for (let index = 0; index < key.length; index++) hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193);
  return (hash >>> 0) % passes;
}

/** `group` is its number in the ranking's own table. */
type Ranked = Weight & { key: string; times: string; group: number };

/** `total` and `rest` are groups of `table`. */
type RankedSums = { table: GroupTable; total: number; rest: number };
const rankedSums = (table: GroupTable): RankedSums => ({ table, total: table.open(), rest: table.open() });

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
export class Ranking {
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
  get places(): { kept: ReadonlyMap<string, number>; rest: number; total: number } {
    return { kept: this.finished.kept, rest: this.own.rest, total: this.own.total };
  }

  /** `storeFeeBasisPoints` are hundredths of a percent. `moreOf` are sums of a group that its table does not have. */
  read(
    storeFeeBasisPoints: number,
    moreOf: (group: number) => Partial<Sums>,
  ): { groups: Map<string, Sums>; cut: Cut | null; total: Sums } {
    const { cut, kept } = this.finished;
    const sumsOf = (group: number): Sums => ({
      ...this.table.sumsOf(group),
      ...moreOf(group),
      storeFeeBasisPoints,
    });
    const groups = new Map([...kept].map(([key, group]) => [key, sumsOf(group)]));
    if (this.hasRest) groups.set(REST, sumsOf(this.own.rest));
    return { groups, cut, total: sumsOf(this.own.total) };
  }
}
