import type { Sums } from '#catalogue';
import { GroupTable, type Weight } from './group-table.ts';
import { CUT_OFF, type Groups } from './groups.ts';
import { type Cut, type GroupQuestion, matches, REST, rollupFor, timesOf } from './question.ts';

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
    this.sums.table.addAll(this.sums.total, table, size);
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

  /** `storeFee` is in hundredths of a percent. */
  read(storeFee: number): { groups: Map<string, Sums>; cut: Cut | null; total: Sums } {
    const { cut, kept } = this.finished;
    const groups = new Map([...kept].map(([key, group]) => [key, this.table.sumsOf(group, storeFee)]));
    if (this.hasRest) groups.set(REST, this.table.sumsOf(this.own.rest, storeFee));
    return { groups, cut, total: this.table.sumsOf(this.own.total, storeFee) };
  }
}
