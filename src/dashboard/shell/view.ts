import { getCookie } from 'hono/cookie';
import { SEGMENT, SEGMENT_DIMENSIONS } from '#catalogue';
import { database } from '#db';
import { AppError, readAs } from '#http';
import { CURRENCIES } from '#lib/currencies';
import { addDays, dayIn, isDay } from '#lib/time';
import { askedFilters, findFirstDay, ReportFilters } from '#reports';
import { type ApplicationRow, listApplications } from '#teams';
import type { DashboardContext } from './page-record.ts';
import {
  COMPARISONS,
  type ComparedView,
  type ComparisonChoice,
  DEFAULT_COMPARISON,
  DEFAULT_PERIOD,
  daysOfPeriod,
  isUncompared,
  needsFirstDay,
  PERIODS,
  type Period,
} from './period.ts';

/** More than anyone would choose from a list. The API has no such limit. */
const MAX_APPLICATIONS = 200;

/** Remembers the application last looked at, for addresses that name none. */
export const APPLICATION_COOKIE = 'dashboard.application';

/** The applications of a team: the person's unless another is named. */
export const applicationsOf = (c: DashboardContext, teamId = c.get('person').team.id) =>
  listApplications(database(c.env.DB), teamId, { limit: MAX_APPLICATIONS, cursor: '' });

/** The application last looked at, or else the first. */
export function lastApplication(c: DashboardContext, applications: readonly ApplicationRow[]) {
  const known = getCookie(c, APPLICATION_COOKIE);
  return applications.find(({ id }) => id === known) ?? applications[0];
}

/** The application, period and filters of a report page. They are in the URL, so that a view can be shared. */
export type View = ComparedView & {
  applications: ApplicationRow[];
  application: ApplicationRow;
  /** When the page was requested, in epoch milliseconds: the time of all of its figures. */
  now: number;
  /** The filters of the report. */
  filters: ReportFilters;
  currency: string;
  /** Whether the currency was chosen. Otherwise it is the application's, and changes with the application. */
  currencyChosen: boolean;
  /** The time (epoch milliseconds) through which the page's figures are complete; null if unknown. */
  countedThrough: number | null;
  /** How many accepted events the figures may lack; null if unknown. */
  uncounted: number | null;
  /** Whether the counters had counted everything when the page was rendered. */
  isSettled: boolean;
  /** The currencies of the application's amounts, for lists of currencies. Empty if they were not looked up. */
  currenciesUsed: readonly string[];
};

/** The filters, as named in URLs and reports. */
export const FILTER_NAMES = [
  'campaign_id',
  'adset_id',
  'creative_id',
  ...SEGMENT_DIMENSIONS,
  'attribution',
] as const satisfies readonly (keyof ReportFilters)[];
export type FilterName = (typeof FILTER_NAMES)[number];

/** The values of a filter, whether it has one or several. */
export const filterValues = (filters: ReportFilters, name: FilterName): string[] =>
  [filters[name] ?? []].flat();

/**
 * The team's applications, and among them the one that the URL names, or else the one last looked at. Throws `not_found` for one that the team
 * does not have.
 */
async function readApplications(c: DashboardContext, teamId?: string) {
  const applications = await applicationsOf(c, teamId);
  const wanted = c.req.query('app');
  const application = wanted
    ? applications.find(({ id }) => id === wanted)
    : lastApplication(c, applications);
  // Another team's application must look like one that does not exist.
  if (wanted && !application) throw new AppError('not_found', 'Application not found');
  return { applications, application };
}

/**
 * Reads the view from the URL and adds defaults; null if the team has no application. Throws `invalid_request` for a filter that reports do not
 * accept.
 */
export async function readView(c: DashboardContext): Promise<View | null> {
  const { applications, application } = await readApplications(c);
  if (!application) return null;
  const now = Date.now();
  const today = dayIn(application.timezone, now);
  const currency = c.req.query('currency')?.toLowerCase() ?? '';
  const currencyChosen = CURRENCIES.has(currency);
  const period = await readPeriod(c, application, today);
  return {
    applications,
    application,
    today,
    now,
    ...period,
    comparison: readComparison(c, period),
    isFirstDay: false,
    filters: readFilters(c, application.id),
    currency: currencyChosen ? currency : application.currency,
    currencyChosen,
    countedThrough: null,
    uncounted: null,
    isSettled: true,
    currenciesUsed: [],
  };
}

/** The time zone of times on pages of a whole team, which is the person's unless another is named: that of the application last looked at. */
export async function zoneOf(c: DashboardContext, teamId?: string): Promise<string> {
  const { application } = await readApplications(c, teamId);
  return application?.timezone ?? 'UTC';
}

/** The view of a request that needs an application. Throws `not_found` where the team has none yet. */
export async function requireView(c: DashboardContext): Promise<View> {
  const view = await readView(c);
  if (!view) throw new AppError('not_found', 'The team has no application yet');
  return view;
}

function readComparison(c: DashboardContext, { period }: Pick<View, 'period'>): ComparisonChoice {
  if (isUncompared(period)) return 'none';
  const named = c.req.query('compare') ?? '';
  return Object.hasOwn(COMPARISONS, named) ? (named as ComparisonChoice) : DEFAULT_COMPARISON;
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
    const first = isDay(from) ? from : daysOfPeriod(DEFAULT_PERIOD, addDays(last, 1), '').from;
    return { period: 'custom', ...(first <= last ? { from: first, to: last } : { from: last, to: first }) };
  }
  const relative = period ?? DEFAULT_PERIOD;
  const firstDay = needsFirstDay(relative) ? await findFirstDay(c.env.DB, application.id, today) : null;
  return { period: relative, ...daysOfPeriod(relative, today, firstDay ?? today) };
}

/** Filters whose values belong to one application. */
const OWN_FILTERS: ReadonlySet<FilterName> = new Set([
  'campaign_id',
  'adset_id',
  'creative_id',
  ...SEGMENT_DIMENSIONS.filter((name) => !SEGMENT[name].isShared),
]);

/** The page's query, without the filters that `readView` ignores, and with the chosen columns, which may only be in a cookie of this browser. */
export function queryToKeep(c: DashboardContext, columns: readonly string[]): string {
  const query = new URL(c.req.url).searchParams;
  if (query.has('of') && query.get('of') !== query.get('app')) {
    for (const name of OWN_FILTERS) query.delete(name);
  }
  query.delete('of');
  query.delete('column');
  for (const name of columns) query.append('column', name);
  if (isUncompared(query.get('period'))) query.delete('compare');
  return query.size === 0 ? '' : `?${query}`;
}

/**
 * Reads the filters. An empty value is a form field that was left empty. The bar's `of` says which application its filters belong to, so that they
 * are dropped if another application is chosen.
 */
function readFilters(c: DashboardContext, applicationId: string): ReportFilters {
  const of = c.req.query('of') ?? applicationId;
  const names = FILTER_NAMES.filter((name) => of === applicationId || !OWN_FILTERS.has(name));
  const sent = names.map((name) => {
    const values = [...new Set(c.req.queries(name)?.filter((value) => value.trim() !== ''))];
    return [name, name === 'attribution' ? values[0] : values.length > 0 ? values : undefined] as const;
  });
  return askedFilters(readAs(ReportFilters, Object.fromEntries(sent)));
}

/** A link's changes to a view. An empty value or list removes the parameter. */
export type ViewChanges = Record<string, string | readonly string[] | undefined>;

/** The address of a page: `carry` are its own parameters, which its links and forms keep. */
export type Here = { view: View; path: string; carry?: ViewChanges };

/** The URL parameters of a view with changes. Defaults are left out. */
export function viewParameters(view: View | null, changes: ViewChanges = {}): URLSearchParams {
  const own: ViewChanges = view
    ? {
        app: view.application.id,
        period: view.period === DEFAULT_PERIOD ? '' : view.period,
        ...(view.period === 'custom' ? { from: view.from, to: view.to } : {}),
        compare: view.comparison === DEFAULT_COMPARISON || isUncompared(view.period) ? '' : view.comparison,
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

/** The query string of a view with changes. */
export function viewQuery(view: View | null, changes: ViewChanges = {}): string {
  const query = viewParameters(view, changes).toString();
  return query === '' ? '' : `?${query}`;
}

/** The view without any filter. */
export const NO_FILTERS: ViewChanges = Object.fromEntries(FILTER_NAMES.map((name) => [name, '']));

/** The view with one more value of a filter. `attribution` has only one value. */
export function withFilter(view: View, name: FilterName, value: string): ViewChanges {
  return {
    [name]: name === 'attribution' ? value : [...new Set([...filterValues(view.filters, name), value])],
  };
}

/** The view without one value of a filter. */
export const withoutFilter = (view: View, name: FilterName, value: string): ViewChanges => ({
  [name]: filterValues(view.filters, name).filter((other) => other !== value),
});
