import { type Basis, type CohortFigure, type CohortFigures, per } from '#catalogue';
import { database } from '#db';
import { fromNanos } from '#lib/money';
import type { CubeStores } from '#rollup';
import { type DimensionName, isNamed, knowsSpendIn } from '../dimensions.ts';
import { hasCosts } from '../engine/cost-scan.ts';
import { scanCube } from '../engine/cube-query.ts';
import { DayRates, END_OF_TIME } from '../engine/day-rates.ts';
import { GroupCells } from '../engine/group-cells.ts';
import { REST } from '../engine/question.ts';
import { CreativeNames } from '../names.ts';
import type { Reported, ReportFilters } from '../query.ts';
import { CohortActivity } from './cohort-activity.ts';
import { CohortPlaces, NO_GROUP, REST_ROW } from './cohort-places.ts';
import { CohortRevenue, RevenueReader } from './cohort-revenue.ts';

// The cohorts behind the rows of a performance report: the devices acquired in each row's days and group.

type GroupCohortsRequest = {
  names: readonly DimensionName[];
  from: string;
  to: string;
  reporting: string;
  filters: ReportFilters;
  basis: Basis;
  /** The application's. Day N of a cohort counts once it is over. */
  today: string;
  /** The figures, each by day numbers since the acquisition. */
  days: readonly { figure: CohortFigure; day: number }[];
};

/** The number of the group with the first row. */
const FIRST_GROUP = NO_GROUP + 1;

/** The figures of revenue. All devices come first: their amounts have those of the attributed ones among them, which are set against spend. */
const REVENUE_FIGURES = [
  { figure: 'ltv', curve: 'ltv', of: 'all', isNet: false, needsSpend: false },
  { figure: 'ltv_net', curve: 'ltv', of: 'all', isNet: true, needsSpend: false },
  { figure: 'roas', curve: 'roas', of: 'attributed', isNet: false, needsSpend: true },
  { figure: 'roas_net', curve: 'roas', of: 'attributed', isNet: true, needsSpend: true },
  { figure: 'profit', curve: null, of: 'attributed', isNet: false, needsSpend: true },
  { figure: 'profit_net', curve: null, of: 'attributed', isNet: true, needsSpend: true },
] as const;
const NO_FIGURES: Record<CohortFigure, null> = {
  ...{
    retention: null,
    ltv: null,
    ltv_net: null,
    roas: null,
    roas_net: null,
    profit: null,
    profit_net: null,
  },
};

/**
 * Reads the cohorts of a report's groups, which are given by their keys; `REST` stands for all others together. Spend is null for groupings and
 * filters by which it is unknown, and so is ROAS, which counts attributed devices only unless it is blended.
 */
export async function readGroupCohorts(
  stores: CubeStores,
  application: Reported,
  asked: GroupCohortsRequest,
  keys: Iterable<string>,
): Promise<(key: string) => CohortFigures> {
  const { names, from, filters, reporting, days } = asked;
  const rows = new Map([...keys].filter((key) => key !== REST).map((key, index) => [key, index + 1]));
  const count = rows.size + 1;
  const creatives = new CreativeNames(database(stores.DB), application.id, names.filter(isNamed));
  const lookup = new GroupCells(names, creatives, {
    group: (values) => (rows.get(JSON.stringify(values)) ?? REST_ROW) + FIRST_GROUP,
  });
  const own = { today: asked.today, days: days.map(({ day }) => day) };
  const places = new CohortPlaces(own, lookup, (group) => group - FIRST_GROUP);
  const { numbers } = places;
  const rates = new DayRates(stores.DB, { teamId: application.teamId, reporting, from, to: END_OF_TIME });
  const knowsSpend = hasCosts(names) && knowsSpendIn(filters);

  const activity = new CohortActivity(places, count);
  const wants = (figure: CohortFigure) => days.some((own) => own.figure === figure);
  const targets = REVENUE_FIGURES.filter(
    ({ figure, needsSpend }) => wants(figure) && (knowsSpend || !needsSpend),
  ).map(({ isNet, of, ...target }) => ({
    ...target,
    of: asked.basis === 'blended' ? ('all' as const) : of,
    ...{ to: new CohortRevenue(count, numbers, rates), net: isNet ? application : null },
  }));
  const revenue = new RevenueReader(places, rates, targets);
  const scan = { ...asked, applicationId: application.id };
  const ofActivity = { rollup: 'cohort_activity' as const, sums: ['active_devices'], ages: [0, ...numbers] };
  for await (const chunk of scanCube(stores, { ...scan, ...ofActivity })) await activity.read(chunk);
  const wantsSpend = targets.some(({ needsSpend }) => needsSpend);
  if (targets.length > 0) await revenue.scan(stores, scan, wantsSpend);

  return (key) => {
    const row = rows.get(key) ?? REST_ROW;
    const eligible = activity.eligibleByAge(row);
    const curves = targets.map(
      ({ figure, curve, to }) => [figure, curve && to.curvesOf(row, eligible, true)[curve], to] as const,
    );
    const figures = numbers.map((day, index) => {
      const { eligible: over, active } = activity.of(row, day);
      const own = {
        ...NO_FIGURES,
        retention: per(active, over),
        ...Object.fromEntries(
          curves.map(([figure, curve, to]) => [
            figure,
            curve ? (curve[day] ?? null) : profitOf(to, row, index, over),
          ]),
        ),
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

/** What devices have earned by a day number less what was spent on them, both of those whose day is over. Null if there is neither. */
function profitOf(
  { revenue, spend }: CohortRevenue,
  row: number,
  index: number,
  over: number,
): number | null {
  const spent = spend.of(row, index);
  return over === 0 && spent === 0n ? null : fromNanos(revenue.of(row, index) - spent);
}
