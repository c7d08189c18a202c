import { database } from '#db';
import { AppError } from '#http';
import { CURRENCIES } from '#lib/currencies';
import { addDays, dayIn, daysBetween, isDay } from '#lib/time';
import { type ApplicationRow, listApplications } from '#teams';
import type { DashboardContext } from './guard.ts';

const DEFAULT_DAYS = 28;
/** More than anyone chooses from a list; the API has no such limit. */
const MAX_APPLICATIONS = 200;

/** What every report page looks at. It stands in the URL, so that a view can be shared. */
export type View = {
  applications: ApplicationRow[];
  application: ApplicationRow;
  /** Inclusive days in the application's time zone. */
  from: string;
  to: string;
  today: string;
  currency: string;
  /** Up to when (epoch milliseconds) the figures of the page are complete; null where that is not known. */
  countedThrough: number | null;
};

/** The view that the URL names, completed with defaults; null while the team has no application. */
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
  const to = dayOr(c.req.query('to'), today);
  const from = dayOr(c.req.query('from'), addDays(to, 1 - DEFAULT_DAYS));
  const currency = c.req.query('currency')?.toLowerCase() ?? '';
  return {
    applications,
    application,
    today,
    ...(from <= to ? { from, to } : { from: to, to: from }),
    currency: CURRENCIES.has(currency) ? currency : application.currency,
    countedThrough: null,
  };
}

const dayOr = (day: string | undefined, fallback: string) => (day && isDay(day) ? day : fallback);

/** The period of the same length that ended the day before. */
export function periodBefore({ from, to }: Pick<View, 'from' | 'to'>): { from: string; to: string } {
  const days = daysBetween(from, to) + 1;
  return { from: addDays(from, -days), to: addDays(from, -1) };
}

/** The view as a query string, with what a link changes about it; an empty value leaves a parameter out. */
export function viewQuery(view: View | null, changes: Record<string, string> = {}): string {
  const { application, from, to, currency } = view ?? {};
  const parameters = { app: application?.id ?? '', from: from ?? '', to: to ?? '', currency: currency ?? '' };
  const entries = Object.entries({ ...parameters, ...changes }).filter(([, value]) => value !== '');
  return entries.length === 0 ? '' : `?${new URLSearchParams(entries)}`;
}
