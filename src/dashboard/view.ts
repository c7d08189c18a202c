import { database } from '#db';
import { AppError, invalidRequest, toFaults } from '#http';
import { CURRENCIES } from '#lib/currencies';
import { dayIn, isDay } from '#lib/time';
import { filtersOf, findFirstDay, ReportFilters } from '#reports';
import { type ApplicationRow, listApplications } from '#teams';
import type { DashboardContext } from './guard.ts';
import {
  COMPARISONS,
  type Comparison,
  DEFAULT_COMPARISON,
  DEFAULT_PERIOD,
  daysOfPeriod,
  PERIODS,
  type Period,
} from './period.ts';

/** More than anyone chooses from a list; the API has no such limit. */
const MAX_APPLICATIONS = 200;

/** What every report page looks at. It stands in the URL, so that a view can be shared. */
export type View = {
  applications: ApplicationRow[];
  application: ApplicationRow;
  period: Period;
  /** Inclusive days in the application's time zone. */
  from: string;
  to: string;
  today: string;
  comparison: Comparison;
  /** What the figures are narrowed to. */
  filters: ReportFilters;
  currency: string;
  /** Whether the currency was chosen; otherwise it is the application's, also of the next one that is looked at. */
  currencyChosen: boolean;
  /** Up to when (epoch milliseconds) the figures of the page are complete; null where that is not known. */
  countedThrough: number | null;
};

/** The filters, as the URL and the reports name them. */
export const FILTER_NAMES = [
  'campaign_id',
  'adset_id',
  'creative_id',
  'country',
  'os',
  'app_version',
  'attribution',
] as const satisfies readonly (keyof ReportFilters)[];
export type FilterName = (typeof FILTER_NAMES)[number];

/** The values of a filter, whether it has one or several. */
export const filterValues = (filters: ReportFilters, name: FilterName): string[] =>
  [filters[name] ?? []].flat();

/**
 * The view that the URL names, completed with defaults; null while the team has no application. Throws `invalid_request` for a
 * filter that no report would take.
 */
export async function readView(c: DashboardContext, now: number): Promise<View | null> {
  const applications = await listApplications(database(c.env.DB), c.get('person').team.id, {
    limit: MAX_APPLICATIONS,
    cursor: '',
  });
  const wanted = c.req.query('app');
  const application = wanted ? applications.find(({ id }) => id === wanted) : applications[0];
  // Another team's application is no more than one that does not exist.
  if (wanted && !application) throw new AppError('not_found', 'There is no such application in your team');
  if (!application) return null;
  const today = dayIn(application.timezone, now);
  const currency = c.req.query('currency')?.toLowerCase() ?? '';
  const currencyChosen = CURRENCIES.has(currency);
  const comparison = c.req.query('compare') ?? '';
  return {
    applications,
    application,
    today,
    ...(await readPeriod(c, application, today)),
    comparison: Object.hasOwn(COMPARISONS, comparison) ? (comparison as Comparison) : DEFAULT_COMPARISON,
    filters: readFilters(c, application.id),
    currency: currencyChosen ? currency : application.currency,
    currencyChosen,
    countedThrough: null,
  };
}

/** The view of a request that needs an application. Throws `not_found` where the team has none yet. */
export async function requireView(c: DashboardContext): Promise<View> {
  const view = await readView(c, Date.now());
  if (!view) throw new AppError('not_found', 'The team has no application yet');
  return view;
}

async function readPeriod(
  c: DashboardContext,
  application: ApplicationRow,
  today: string,
): Promise<Pick<View, 'period' | 'from' | 'to'>> {
  const { period: named = '', from = '', to = '' } = c.req.query();
  const period = Object.hasOwn(PERIODS, named) ? (named as Period) : null;
  if (period === 'custom' || (period === null && (isDay(from) || isDay(to)))) {
    const last = isDay(to) ? to : today;
    const first = isDay(from) ? from : daysOfPeriod(DEFAULT_PERIOD, last).from;
    return { period: 'custom', ...(first <= last ? { from: first, to: last } : { from: last, to: first }) };
  }
  const firstDay =
    period === 'all' ? await findFirstDay(database(c.env.DB), application.id, today) : undefined;
  return {
    period: period ?? DEFAULT_PERIOD,
    ...daysOfPeriod(period ?? DEFAULT_PERIOD, today, firstDay ?? today),
  };
}

/** What belongs to one application only. */
const OWN_FILTERS: ReadonlySet<FilterName> = new Set([
  'campaign_id',
  'adset_id',
  'creative_id',
  'app_version',
]);

/** The query of the page that is shown, without the filters that `readView` leaves out. */
export function queryToKeep(c: DashboardContext): string {
  const query = new URL(c.req.url).searchParams;
  if (query.has('of') && query.get('of') !== query.get('app')) {
    for (const name of OWN_FILTERS) query.delete(name);
  }
  query.delete('of');
  return query.size === 0 ? '' : `?${query}`;
}

/**
 * An empty value is a form's field that was left alone. The bar says in `of` whose filters it sends, so that another application
 * that is chosen there is not narrowed to campaigns that it does not have.
 */
function readFilters(c: DashboardContext, applicationId: string): ReportFilters {
  const of = c.req.query('of') ?? applicationId;
  const names = FILTER_NAMES.filter((name) => of === applicationId || !OWN_FILTERS.has(name));
  const sent = names.map((name) => {
    const values = [...new Set(c.req.queries(name)?.filter((value) => value.trim() !== ''))];
    return [name, name === 'attribution' ? values[0] : values.length > 0 ? values : undefined] as const;
  });
  const result = ReportFilters.safeParse(Object.fromEntries(sent));
  if (!result.success) throw invalidRequest(toFaults(result.error));
  return filtersOf(result.data);
}

/** What a link changes about a view; an empty value, or an empty list, leaves a parameter out. */
export type ViewChanges = Record<string, string | readonly string[] | undefined>;

/** The parameters of a view, with changes. What is as it would be anyway is left out. */
export function viewParameters(view: View | null, changes: ViewChanges = {}): URLSearchParams {
  const own: ViewChanges = view
    ? {
        app: view.application.id,
        period: view.period === DEFAULT_PERIOD ? '' : view.period,
        ...(view.period === 'custom' ? { from: view.from, to: view.to } : {}),
        compare: view.comparison === DEFAULT_COMPARISON ? '' : view.comparison,
        currency: view.currencyChosen ? view.currency : '',
        ...view.filters,
      }
    : {};
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...own, ...changes })) {
    for (const each of [value ?? []].flat()) if (each !== '') parameters.append(name, each);
  }
  return parameters;
}

/** The view as a query string, with what a link changes about it. */
export function viewQuery(view: View | null, changes: ViewChanges = {}): string {
  const query = viewParameters(view, changes).toString();
  return query === '' ? '' : `?${query}`;
}

/** The view narrowed to what one more value of a filter stands for; of `attribution` there is one value only. */
export function withFilter(view: View, name: FilterName, value: string): ViewChanges {
  return {
    [name]: name === 'attribution' ? value : [...new Set([...filterValues(view.filters, name), value])],
  };
}

/** The view without a value of a filter. */
export const withoutFilter = (view: View, name: FilterName, value: string): ViewChanges => ({
  [name]: filterValues(view.filters, name).filter((other) => other !== value),
});
