import type { DayRates } from './day-rates.ts';
import { DIMENSIONS, type DimensionName, isNamed, isTime, spansOf } from './dimensions.ts';
import { type Conversion, GroupTable } from './group-table.ts';
import type { CreativeGroup, CreativeNames } from './names.ts';
import { MAX_GROUPS, rollupFor, type SegmentQuestion, timesOf } from './segment-question.ts';
import type { RowKey, ScannedSegment, SegmentReader } from './segment-scan.ts';

/** `values` are those of a row's groupings, null where the segment decides. `cells` are its groups by the segment's part of the key. */
type RowGroup = { id: string; values: readonly (string | null)[]; cells: number[] };
/** `group` is null for a row without a group. */
type Row = { group: RowGroup | null; currency: string; conversion: Conversion; isPaid: boolean };

/** Marks a group that is counted in another pass. */
const OTHER_PASS = -1;
/** The group numbers of rows without a group (`NONE`) and of rows whose groups are cut off by time (`CUT_OFF`). */
const NONE = 0;
export const CUT_OFF = 1;
const FIRST_GROUP = 2;

/** The groups of one pass. */
export class Groups implements SegmentReader<Row> {
  readonly table: GroupTable;
  /** By group number; null for `NONE` and `CUT_OFF`. */
  readonly values: ((string | null)[] | null)[] = [null, null];
  /** The number of groups in `CUT_OFF`. */
  cutOffGroups = 0;
  /** The period of the groups that were opened last, and the number of groups in later periods. */
  private span = '';
  private later = 0;
  private readonly asked: SegmentQuestion;
  private readonly names: readonly DimensionName[];
  private readonly around: { pass: number; passes: number; creatives: CreativeNames; rates: DayRates };
  private readonly maxGroups: number;
  private readonly rows = new Map<string, RowGroup>();
  private readonly spans = new Map<string, readonly (string | null)[]>();
  /** The number of a segment's part of the key, by the segment's index. */
  private readonly parts: number[] = [];
  private readonly partIds = new Map<string, number>();

  constructor(asked: SegmentQuestion, around: Groups['around']) {
    const { names } = asked;
    this.asked = asked;
    this.names = names;
    this.around = around;
    this.maxGroups = asked.maxGroups ?? MAX_GROUPS;
    this.table = new GroupTable(rollupFor(names));
    for (let group = 0; group < FIRST_GROUP; group++) this.table.open();
  }

  useCurrencies(currencies: readonly string[]): Promise<void> {
    return this.around.rates.use(currencies);
  }

  row(key: RowKey): Row | null {
    const currency = key('currency');
    const isPaid = key('creative_id') !== '';
    const conversion = this.around.rates.of(currency, key('day'));
    if (currency === '' && this.names.includes('currency')) {
      return this.around.pass === 0 ? { group: null, currency, conversion, isPaid } : null;
    }
    const values = this.names.map((name, index) => this.valueOf(name, index, key));
    const id = JSON.stringify(values);
    let group = this.rows.get(id);
    if (!group) {
      group = { id, values, cells: [] };
      this.rows.set(id, group);
    }
    return { group, currency, conversion, isPaid };
  }

  add(row: Row, segment: ScannedSegment, sums: Float64Array, mask: number): void {
    const { group, currency, conversion, isPaid } = row;
    const cell = group ? this.cellOf(group, segment) : NONE;
    if (cell === OTHER_PASS) return;
    this.table.add(cell, sums, mask, conversion);
    if (isPaid) this.table.addAttributed(cell, sums);
    if (conversion !== null) return;
    const { missing } = this.around.rates;
    missing.set(currency, (missing.get(currency) ?? 0n) + this.table.microsOf(sums));
  }

  isFull(): boolean {
    return this.table.size > this.maxGroups;
  }

  private cellOf(row: RowGroup, segment: ScannedSegment): number {
    const part = this.partOf(segment);
    let cell = row.cells[part];
    if (cell === undefined) {
      const values = this.names.map((name, index) =>
        DIMENSIONS[name].kind === 'segment' ? valueIn(segment, name) : (row.values[index] ?? null),
      );
      const { pass, passes } = this.around;
      if (passOf(values, passes) !== pass) cell = OTHER_PASS;
      else cell = this.isCutOff(values) ? this.cutOff() : this.open(values);
      row.cells[part] = cell;
    }
    return cell;
  }

  /**
   * Whether enough groups of later days were found already. The latest days are read first and rank first. In groupings by network, it is
   * only known at the end which groups have a row.
   */
  private isCutOff(values: readonly (string | null)[]): boolean {
    const { names, limit, q, within, keepsRequests } = this.asked;
    if (!names.some(isTime) || q || within || (names.includes('media_source') && !keepsRequests))
      return false;
    const span = timesOf(values, names);
    if (span !== this.span) {
      this.span = span;
      this.later = this.table.size - FIRST_GROUP;
    }
    return this.later > limit;
  }

  private cutOff(): number {
    this.cutOffGroups++;
    return CUT_OFF;
  }

  private open(values: (string | null)[]): number {
    this.values.push(values);
    return this.table.open();
  }

  private partOf(segment: ScannedSegment): number {
    const known = this.parts[segment.index];
    if (known !== undefined) return known;
    const id = JSON.stringify(
      this.names.map((name) => (DIMENSIONS[name].kind === 'segment' ? valueIn(segment, name) : null)),
    );
    const part = this.partIds.get(id) ?? this.partIds.size;
    this.partIds.set(id, part);
    this.parts[segment.index] = part;
    return part;
  }

  private valueOf(name: DimensionName, index: number, key: RowKey): string | null {
    if (isTime(name)) return this.spansOf(key('day'))[index] ?? null;
    if (isNamed(name)) {
      const named = this.around.creatives.get(key('creative_id'))?.[name as CreativeGroup];
      return named ?? null;
    }
    return DIMENSIONS[name].kind === 'segment' ? null : key(DIMENSIONS[name].column) || null;
  }

  private spansOf(day: string): readonly (string | null)[] {
    let spans = this.spans.get(day);
    if (!spans) {
      spans = spansOf(day, this.names);
      this.spans.set(day, spans);
    }
    return spans;
  }
}

const valueIn = ({ country, os, appVersion }: ScannedSegment, name: DimensionName): string | null =>
  (name === 'country' ? country : name === 'os' ? os : appVersion) || null;

/** FNV-1a, so that a group is counted in the same pass wherever it occurs. */
function passOf(values: readonly (string | null)[], passes: number): number {
  if (passes === 1) return 0;
  const key = JSON.stringify(values);
  let hash = 0x811c9dc5;
  for (let index = 0; index < key.length; index++) hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193);
  return (hash >>> 0) % passes;
}
