import type { Sums } from '#catalogue';
import { database } from '#db';
import { invalidRequest } from '#http';
import { divideRounded } from '#lib/decimal';
import { type RateBook, readRateBook } from '#money';
import { type Cut, cutAfter, matches, REST, type Wanted } from './cut.ts';
import { DIMENSIONS, type DimensionName, isNamed, isTime, rollupOf, spansOf } from './dimensions.ts';
import { isByCreative } from './filters.ts';
import { type Conversion, GroupTable, RATE_SCALE } from './group-table.ts';
import { type CreativeGroup, type CreativeNames, readCreativeNames } from './names.ts';
import type { Reported, ReportFilters } from './query.ts';
import { type RowKey, type ScannedSegment, type SegmentReader, scanSegments } from './segment-scan.ts';

// The performance report by country, OS or app version. Its groups are summed from the blocks that break a rollup down by segment.

/** The largest number of groups in memory. With more, the blocks are read in several passes, each of which sums some of the groups. */
const MAX_GROUPS = 60_000;
const MAX_PASSES = 16;

export type SegmentQuestion = Wanted & {
  names: readonly DimensionName[];
  from: string;
  to: string;
  reporting: string;
  filters: ReportFilters;
  /** Whether requests alone make a group by network. They are made before a network is known. */
  keepsRequests?: boolean;
  maxGroups?: number;
};

export type SegmentedSums = {
  /** By group key; `REST` for all groups without a row of their own. */
  groups: Map<string, Sums>;
  cut: Cut | null;
  /** Sums of all rows that match the filters, whether or not they are in a group. */
  total: Sums;
  /** Micros without a rate, by currency. */
  missing: ReadonlyMap<string, bigint>;
};

/**
 * Adds up the groups of a report and ranks them like `rankGroups`, but by revenue at the rate of each day.
 * Throws `invalid_request` if there are too many groups even for `MAX_PASSES` passes.
 */
export async function readSegmentedSums(
  db: D1Database,
  application: Reported,
  asked: SegmentQuestion,
): Promise<SegmentedSums> {
  const creatives = asked.names.some(isNamed)
    ? await readCreativeNames(database(db), application.id)
    : new Map();
  const { maxGroups = MAX_GROUPS } = asked;
  for (let passes = 1; passes <= MAX_PASSES; passes *= 2) {
    const ranking = new Ranking(asked);
    const rates = new DayRates(db, application, asked);
    let pass = 0;
    for (; pass < passes; pass++) {
      const groups = new Groups(asked, { pass, passes, creatives, rates });
      await scanSegments(db, scanOf(application, asked), groups);
      if (groups.isFull()) break;
      ranking.take(groups);
    }
    if (pass < passes) continue;
    return { ...ranking.sums(), missing: rates.missing };
  }
  const message = `has more than ${maxGroups * MAX_PASSES} groups in this period; ask for fewer days or add a filter`;
  throw invalidRequest([{ path: 'group_by', message }]);
}

const rollupFor = (names: readonly DimensionName[]) => rollupOf(names) ?? 'rollup_daily';

const scanOf = ({ id }: Reported, { names, from, to, filters }: SegmentQuestion) => ({
  applicationId: id,
  rollup: rollupFor(names),
  from,
  to,
  filters,
  byCreative: names.some(isNamed) || isByCreative(filters),
});

/** The rates of each currency by day, and the amounts that could not be converted. */
class DayRates {
  /** Micros by currency. */
  readonly missing = new Map<string, bigint>();
  private readonly db: D1Database;
  private readonly application: Reported;
  private readonly asked: SegmentQuestion;
  private readonly known = new Set<string>();
  private readonly found = new Map<string, Conversion>();
  private book: RateBook | null = null;

  constructor(db: D1Database, application: Reported, asked: SegmentQuestion) {
    this.db = db;
    this.application = application;
    this.asked = asked;
  }

  async use(currencies: readonly string[]): Promise<void> {
    const { reporting, from, to } = this.asked;
    const added = currencies.filter((code) => code !== '' && code !== reporting && !this.known.has(code));
    if (added.length === 0) return;
    for (const currency of added) this.known.add(currency);
    this.found.clear();
    const needed = new Set([reporting, ...this.known]);
    this.book = await readRateBook(this.db, this.application.teamId, needed, from, to);
  }

  of(currency: string, day: string): Conversion {
    const { reporting } = this.asked;
    if (currency === '' || currency === reporting) return 'same';
    const key = `${currency}${day}`;
    let conversion = this.found.get(key);
    if (conversion === undefined) {
      const rate = this.book?.rate(currency, reporting, day);
      conversion = rate ? divideRounded(rate.numerator * RATE_SCALE, rate.denominator) : null;
      this.found.set(key, conversion);
    }
    return conversion;
  }
}

/** `values` are those of a row's groupings, null where the segment decides. `cells` are its groups by the segment's part of the key. */
type RowGroup = { id: string; values: readonly (string | null)[]; cells: number[] };
/** `group` is null for a row without a group. */
type Row = { group: RowGroup | null; currency: string; conversion: Conversion; isPaid: boolean };

/** Marks a group that is counted in another pass. */
const OTHER_PASS = -1;
/** The group numbers of rows without a group (`NONE`) and of rows whose groups are cut off by time (`CUT_OFF`). */
const NONE = 0;
const CUT_OFF = 1;
const FIRST_GROUP = 2;

const timesOf = (values: readonly (string | null)[], names: readonly DimensionName[]) =>
  values.filter((_, index) => isTime(names[index])).join('\0');

/** The groups of one pass. */
class Groups implements SegmentReader<Row> {
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
class Ranking {
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
