import { type DimensionName, isTime } from '../dimensions.ts';
import type { CreativeNames } from '../names.ts';
import { SKIPPED } from './add-columns.ts';
import type { Chunk } from './chunk.ts';
import { GroupCells, type GroupPeriod, type GroupValues } from './group-cells.ts';
import { GroupTable } from './group-table.ts';
import { type GroupQuestion, MAX_GROUPS, rollupFor } from './question.ts';

/** Marks a group that is counted in another pass. */
const OTHER_PASS = SKIPPED;
/** The group numbers of rows without a group (`NONE`) and of rows whose groups are cut off by time (`CUT_OFF`). */
export const NONE = 0;
export const CUT_OFF = 1;
const FIRST_GROUP = 2;

/** The groups of one pass: which group each entry belongs to. */
export class Groups {
  readonly table: GroupTable;
  /** By group number; null for `NONE` and `CUT_OFF`. */
  readonly values: (GroupValues | null)[] = [null, null];
  /** The number of groups in `CUT_OFF`. */
  cutOffGroups = 0;
  private readonly asked: GroupQuestion;
  private readonly names: readonly DimensionName[];
  private readonly around: { pass: number; passes: number; creatives: CreativeNames };
  private readonly maxGroups: number;
  readonly lookup: GroupCells;

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

  /** The group of each entry of a chunk. The later the days of the first chunks, the fewer groups are opened. */
  find(chunk: Chunk): Promise<Int32Array> {
    const time = this.names.includes('hour') ? 'hour' : 'day';
    return this.lookup.find(chunk, time, this.around.pass === 0 ? NONE : OTHER_PASS);
  }

  /**
   * Whether enough groups of later spans were found already: these rank first. In groupings by network, it is only known at the end which
   * groups have a row.
   */
  private isPastLimit({ time }: GroupPeriod): boolean {
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

  private groupOf(values: GroupValues, span: GroupPeriod): number {
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
function passOf(values: GroupValues, passes: number): number {
  if (passes === 1) return 0;
  const key = JSON.stringify(values);
  let hash = 0x811c9dc5;
  for (let index = 0; index < key.length; index++) hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193);
  return (hash >>> 0) % passes;
}
