import type { Sums } from '#catalogue';
import { cutAfter, matches, REST } from './cut.ts';
import { GroupTable } from './group-table.ts';
import { CUT_OFF, type Groups } from './segment-groups.ts';
import { rollupFor, type SegmentedSums, type SegmentQuestion, timesOf } from './segment-question.ts';

type Ranked = {
  key: string;
  times: string;
  revenue: number;
  impressions: number;
  counts: number;
  /** Its number in the ranking's own table. */
  group: number;
};

function byRank(left: Ranked, right: Ranked): number {
  if (left.times !== right.times) return left.times < right.times ? 1 : -1;
  return (
    right.revenue - left.revenue ||
    right.impressions - left.impressions ||
    right.counts - left.counts ||
    (left.key < right.key ? -1 : 1)
  );
}

/** The largest groups of all passes, the sums of all other groups, and the totals. */
export class Ranking {
  private readonly asked: SegmentQuestion;
  private readonly table: GroupTable;
  private readonly total: number;
  private readonly rest: number;
  private ranked: Ranked[] = [];
  private matching = 0;
  private hasRest = false;

  constructor(asked: SegmentQuestion) {
    this.asked = asked;
    this.table = new GroupTable(rollupFor(asked.names));
    this.total = this.table.open();
    this.rest = this.table.open();
  }

  take({ table, values, cutOffGroups }: Groups): void {
    const { names, limit, keepsRequests = false } = this.asked;
    this.matching += cutOffGroups;
    if (cutOffGroups > 0) this.addToRest(table, CUT_OFF);
    const found: Ranked[] = [];
    for (let group = 0; group < table.size; group++) {
      this.table.addGroup(this.total, table, group);
      const own = values[group];
      if (!own) continue;
      const weight = table.weightOf(group);
      const isRequest = names.includes('media_source') && weight.impressions === 0;
      if (isRequest && !keepsRequests) continue;
      if (!matches(own, names, this.asked)) {
        this.addToRest(table, group);
        continue;
      }
      this.matching++;
      found.push({ key: JSON.stringify(own), times: timesOf(own, names), ...weight, group });
    }
    found.sort(byRank);
    for (const { group } of found.slice(limit + 1)) this.addToRest(table, group);
    const kept = found.slice(0, limit + 1).map((one) => {
      const group = this.table.open();
      this.table.addGroup(group, table, one.group);
      return { ...one, group };
    });
    this.ranked = [...this.ranked, ...kept].sort(byRank);
    for (const { group } of this.ranked.splice(limit + 1)) this.addToRest(this.table, group);
  }

  private addToRest(table: GroupTable, group: number): void {
    this.hasRest = true;
    this.table.addGroup(this.rest, table, group);
  }

  sums(): Omit<SegmentedSums, 'missing'> {
    const { limit, q = '', within = '' } = this.asked;
    const isFiltered = q !== '' || within !== '';
    const cut = cutAfter(
      this.ranked.map(({ key }) => ({ key, total: this.matching })),
      limit,
      isFiltered,
    );
    const kept: ReadonlySet<string> = new Set(cut ? JSON.parse(cut.kept) : this.ranked.map(({ key }) => key));
    const groups = new Map<string, Sums>();
    for (const { key, group } of this.ranked) {
      if (kept.has(key)) groups.set(key, this.table.sumsOf(group));
      else this.addToRest(this.table, group);
    }
    if (this.hasRest) groups.set(REST, this.table.sumsOf(this.rest));
    return { groups, cut, total: this.table.sumsOf(this.total) };
  }
}
