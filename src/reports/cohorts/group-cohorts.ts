import { type Cohort, type CohortFigure, isSegmentDimension, per } from '#catalogue';
import { database } from '#db';
import { type CubeStores, type Entries, sumColumnsOf } from '#rollup';
import { type DimensionName, isNamed, knowsSpendIn } from '../dimensions.ts';
import { type Chunk, valuesIn } from '../engine/chunk.ts';
import { hasCosts, scanCosts } from '../engine/cost-scan.ts';
import { type CubeScan, scanCube } from '../engine/cube-scan.ts';
import { REST } from '../engine/cut.ts';
import { DayRates, END_OF_TIME } from '../engine/day-rates.ts';
import { GroupCells } from '../engine/group-cells.ts';
import { plainRatiosOf } from '../metrics.ts';
import { CreativeNames } from '../names.ts';
import type { Reported, ReportFilters } from '../query.ts';
import { type CohortDay, type CohortPlaces, cohortDay, NO_ROW, REST_ROW } from './cohort-cells.ts';
import { CohortDetails } from './cohort-details.ts';
import { CohortRevenue, RevenueReader } from './cohort-revenue.ts';

// The cohorts behind the rows of a performance report: the devices acquired in each row's days and group.

type GroupCohortsRequest = {
  names: readonly DimensionName[];
  from: string;
  to: string;
  reporting: string;
  filters: ReportFilters;
  /** The application's. Day N of a cohort counts once it is over. */
  today: string;
  /** The figures, each by day numbers since the acquisition. */
  days: readonly { figure: CohortFigure; day: number }[];
};

/** Puts entries into the rows of groups. The one of all other groups is `REST_ROW`. */
class GroupPlaces implements CohortPlaces {
  readonly numbers: readonly number[];
  private readonly lookup: GroupCells;
  private readonly today: string;
  private readonly known = new Map<string, CohortDay>();

  // Of the open chunk.
  private days: CohortDay[] = [];
  private dayColumn = 0;

  // Of the entries: the rows, plus 1.
  private rows = new Int32Array(0);
  private dayNumbers: Int32Array | undefined;

  constructor(
    { names, today }: Pick<GroupCohortsRequest, 'names' | 'today'>,
    numbers: readonly number[],
    creatives: CreativeNames,
    rows: ReadonlyMap<string, number>,
  ) {
    this.today = today;
    this.numbers = numbers;
    this.lookup = new GroupCells(names, creatives, {
      group: (values) => (rows.get(JSON.stringify(values)) ?? REST_ROW) + 1,
    });
  }

  async open(chunk: Chunk): Promise<void> {
    const column = chunk.isOfCosts ? 'day' : 'acquired_day';
    await this.lookup.open(chunk, column);
    this.days = valuesIn(chunk, column).map((day) => this.dayOf(day));
    this.dayColumn = chunk.columns.indexOf(column);
  }

  private dayOf(day: string): CohortDay {
    const found = this.known.get(day) ?? cohortDay(day, this.today, this.numbers);
    this.known.set(day, found);
    return found;
  }

  find(entries: Entries): void {
    if (this.rows.length < entries.size) this.rows = new Int32Array(entries.size);
    this.lookup.find(entries, this.rows, NO_ROW + 1);
    this.dayNumbers = entries.keys[this.dayColumn];
  }

  dayAt(entry: number): CohortDay {
    const day = this.days[this.dayNumbers?.[entry] ?? 0];
    if (!day) throw new Error('An entry without its day');
    return day;
  }

  rowAt(entry: number): number {
    return (this.rows[entry] ?? 0) - 1;
  }
}

/** The figures of revenue. All devices come first: their amounts have those of the attributed ones among them. */
const REVENUE_FIGURES = [
  { figure: 'ltv', curve: 'ltv', of: 'all', isNet: false, needsSpend: false },
  { figure: 'ltv_net', curve: 'ltv', of: 'all', isNet: true, needsSpend: false },
  { figure: 'roas', curve: 'roas', of: 'attributed', isNet: false, needsSpend: true },
  { figure: 'roas_net', curve: 'roas', of: 'attributed', isNet: true, needsSpend: true },
] as const;
const NO_FIGURES: Record<CohortFigure, null> = {
  ...{ retention: null, ltv: null, ltv_net: null, roas: null, roas_net: null },
};

const COLUMNS = sumColumnsOf('cohort_activity');
const ACTIVE_AT = COLUMNS.indexOf('active_devices');

/** Adds up the devices of rows, and those of them active on each day number. */
class GroupActivity {
  readonly details: CohortDetails;
  /** By row, the number of its devices. */
  readonly sizes: Float64Array;
  private readonly places: CohortPlaces;

  constructor(places: CohortPlaces, rows: number) {
    this.places = places;
    this.sizes = new Float64Array(rows);
    this.details = new CohortDetails(places.numbers);
  }

  async read(chunk: Chunk): Promise<void> {
    const { numbers } = this.places;
    await this.places.open(chunk);
    const ages = valuesIn(chunk, 'age').map(Number);
    const slots = ages.map((age) => numbers.indexOf(age));
    const ageAt = chunk.columns.indexOf('age');
    chunk.read((entries) => {
      this.places.find(entries);
      for (let entry = 0; entry < entries.size; entry++) {
        const at = entries.keys[ageAt]?.[entry] ?? 0;
        const [age, slot] = [ages[at] ?? 0, slots[at] ?? -1];
        const row = this.places.rowAt(entry);
        if (row === NO_ROW || (age > 0 && slot < 0)) continue;
        const active = entries.sums[ACTIVE_AT]?.[entry] ?? 0;
        if (age === 0) this.sizes[row] = (this.sizes[row] ?? 0) + active;
        this.details.add(row, this.places.dayAt(entry), age, slot, active, 0);
      }
    });
  }
}

/**
 * Reads the cohorts of a report's groups, which are given by their keys; `REST` stands for all others together. Spend is null for groupings and
 * filters by which it is unknown, and so is ROAS, which counts attributed devices only.
 */
export async function readGroupCohorts(
  stores: CubeStores,
  application: Reported,
  asked: GroupCohortsRequest,
  keys: Iterable<string>,
): Promise<(key: string) => Cohort> {
  const { names, from, to, filters, reporting, days } = asked;
  const rows = new Map([...keys].filter((key) => key !== REST).map((key, index) => [key, index + 1]));
  const count = rows.size + 1;
  const numbers = [...new Set(days.map(({ day }) => day))].sort((left, right) => left - right);
  const creatives = new CreativeNames(database(stores.DB), application.id, names.filter(isNamed));
  const places = new GroupPlaces(asked, numbers, creatives, rows);
  const rates = new DayRates(stores.DB, { teamId: application.teamId, reporting, from, to: END_OF_TIME });
  const knowsSpend = hasCosts(names) && knowsSpendIn(filters);

  const activity = new GroupActivity(places, count);
  const wants = (figure: CohortFigure) => days.some((own) => own.figure === figure);
  const targets = REVENUE_FIGURES.filter(
    ({ figure, needsSpend }) => wants(figure) && (knowsSpend || !needsSpend),
  ).map(({ isNet, ...target }) => ({
    ...target,
    ...{ to: new CohortRevenue(count, numbers, rates), net: isNet ? application : null },
  }));
  const revenue = new RevenueReader(places, rates, targets);
  const scan: Omit<CubeScan, 'rollup'> = {
    ...{ applicationId: application.id, from, to, filters },
    byCreative: names.some(isNamed),
    segments: names.filter(isSegmentDimension),
  };
  const ofActivity: CubeScan = {
    ...{ ...scan, rollup: 'cohort_activity' },
    ...{ sums: ['active_devices'], ages: [0, ...numbers] },
  };
  for await (const chunk of scanCube(stores, ofActivity)) await activity.read(chunk);
  if (targets.length > 0) {
    const ofRevenue: CubeScan = { ...scan, rollup: 'cohort_revenue' };
    for await (const chunk of scanCube(stores, ofRevenue)) await revenue.read(chunk);
  }
  if (targets.some(({ needsSpend }) => needsSpend)) {
    const costs = {
      ...asked,
      applicationId: application.id,
      names: [...new Set(['day' as const, ...names])],
    };
    for await (const chunk of scanCosts(stores.DB, costs)) await revenue.read(chunk);
  }

  return (key) => {
    const row = rows.get(key) ?? REST_ROW;
    const eligible = activity.details.eligibleByAge(row);
    const curvesOf = (value: CohortRevenue) =>
      value.curves.of(row, eligible, (age) => {
        const index = numbers.indexOf(age);
        if (index < 0) return null;
        const [revenue, spend] = [value.revenue.of(row, index), value.spend.of(row, index)];
        return plainRatiosOf({ eligible: eligible[age] ?? 0, revenue, spend });
      });
    const curves = targets.map(({ figure, curve, to }) => [figure, curvesOf(to)[curve]] as const);
    const figures = numbers.map((day) => {
      const { eligible: over, active } = activity.details.of(row, day);
      const own = {
        ...NO_FIGURES,
        retention: per(active, over),
        ...Object.fromEntries(curves.map(([figure, curve]) => [figure, curve[day] ?? null])),
      };
      return [day, own] as const;
    });
    const size = activity.sizes[row] ?? 0;
    return {
      figures: new Map(figures),
      incompleteDays: numbers.filter((day) => (eligible[day] ?? 0) < size),
      unconverted: targets[0]?.to.unconvertedOf(row, numbers.length - 1) ?? new Map(),
    };
  };
}
