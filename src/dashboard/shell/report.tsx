import { and, between, count as dbCount, desc, eq } from 'drizzle-orm';
import type { Child } from 'hono/jsx';
import * as z from 'zod';
import { settleCounters } from '#counting';
import { type Database, database, rollupDaily } from '#db';
import { type AppContext, inReportSlot, readAs, searchText } from '#http';
import { CURRENCIES } from '#lib/currencies';
import { count } from '#lib/format';
import {
  answerCsv as answerTable,
  findFirstDay,
  isOfGroup,
  REPORTS,
  type Report,
  type ReportName,
  tableColumns,
} from '#reports';
import { readChips } from './filter-names.ts';
import { type BarPart, Filters } from './filters.tsx';
import { isAdmin } from './guard.ts';
import { readNavigation } from './navigation.tsx';
import { NeedsApplication } from './needs-application.tsx';
import { renderPage } from './page.tsx';
import type { DashboardContext } from './page-record.ts';
import { HiddenFields } from './parts.tsx';
import { type Here, readView, type View, type ViewChanges, viewParameters, viewQuery } from './view.ts';

/**
 * The query fields of every report: the view's application, period, currency and filters. Pages pass them through the schema of the team API's
 * query (`readAs`), so that they request nothing that the API does not offer.
 */
export const viewAsked = ({ application, from, to, currency, filters }: View) => ({
  application_id: application.id,
  from,
  to,
  currency,
  ...filters,
});

type ReportPage = {
  /** The title of the page's record if left out. */
  title?: string;
  /** What contains the thing that the title names. */
  within?: (view: View) => Child;
  /** The page's own parameters, which are kept when the view changes. */
  carry?: ViewChanges;
  /** The parts of the filter bar that apply to this page; all if left out. */
  bar?: readonly BarPart[] | undefined;
  /** Where the filter bar leads, if not to the page's own path. */
  inner?: string;
};

/** The currencies of the amounts in a view's days, most frequent first. */
async function findCurrencies(db: Database, { application, from, to }: View): Promise<string[]> {
  const rows = await db
    .select({ currency: rollupDaily.currency })
    .from(rollupDaily)
    .where(and(eq(rollupDaily.applicationId, application.id), between(rollupDaily.day, from, to)))
    .groupBy(rollupDaily.currency)
    .orderBy(desc(dbCount()));
  return rows.map(({ currency }) => currency).filter((currency) => CURRENCIES.has(currency));
}

/** Whether a view up to today has no figures of earlier days. */
async function lacksEarlierDays(d1: D1Database, { application, to, today }: View): Promise<boolean> {
  if (to < today) return false;
  const first = await findFirstDay(d1, application.id, today);
  return first === null || first >= today;
}

/** Settles an application's counters, within a time that a person is willing to wait. */
export async function settleView(c: DashboardContext, view: View): Promise<View> {
  const db = database(c.env.DB);
  const [progress, currenciesUsed, lacked] = await Promise.all([
    settleCounters(c.env, view.application),
    findCurrencies(db, view),
    lacksEarlierDays(c.env.DB, view),
  ]);
  const { countedThrough, uncounted } = progress;
  // What has just been counted may be of an earlier day.
  const isFirstDay = lacked && (await lacksEarlierDays(c.env.DB, view));
  return { ...view, countedThrough, uncounted, isFirstDay, isSettled: progress.settled, currenciesUsed };
}

/**
 * Renders a report page after settling the application's counters. `content` returns the page's own part, or a whole answer such as a CSV file.
 */
export const renderReport = (c: DashboardContext, page: ReportPage, content: ReportContent) =>
  inReportSlot(c.get('person').team.id, () => composeReport(c, page, content));

type ReportContent = (view: View, here: Required<Here>) => Promise<Child | Response>;

async function composeReport(c: DashboardContext, page: ReportPage, content: ReportContent) {
  const read = await readView(c);
  const { carry = {}, title } = page;
  const named = title === undefined ? {} : { title };
  const path = page.inner ?? c.get('page')?.path ?? '/';
  if (!read) {
    const mayCreate = isAdmin(c);
    return renderPage(c, named, <NeedsApplication mayCreate={mayCreate} />);
  }
  const view = await settleView(c, read);
  const here = { view, path, carry };
  const report = content(view, here);
  // A file has no navigation.
  if (wantsCsv(c)) {
    const file = await report;
    if (file instanceof Response) return file;
  }
  const [shown, chips, navigation] = await Promise.all([
    report,
    readChips(c.env.DB, view),
    readNavigation(c, view),
  ]);
  if (shown instanceof Response) return shown;
  const filters = <Filters {...here} shown={page.bar} chips={chips} />;
  const within = page.within?.(view);
  const columns = [carry.column ?? []].flat();
  return renderPage(c, { ...named, within, view, filters, columns, navigation }, shown);
}

/** Whether the request asks for a CSV file. */
export const wantsCsv = (c: DashboardContext) => c.req.query('format') === 'csv';

/** The same rows as the team API's CSV. */
export function answerCsv(
  c: DashboardContext,
  report: Parameters<typeof answerTable>[1],
  columns: readonly string[],
  view: View,
): Promise<Response> {
  const { attribution } = view.filters;
  return answerTable(c as unknown as AppContext, report, columns, { ...view, attribution });
}

/** A whole report of the team API as a CSV file. */
export async function answerReportCsv(
  c: DashboardContext,
  name: ReportName,
  query: Record<string, unknown>,
  view: View,
): Promise<Response> {
  const report: Report = REPORTS[name];
  const asked = readAs(report.query, query);
  const answer = await report.read(c.env, view.application, asked, view.now);
  return answerCsv(c, answer, tableColumns(name, report.columnsOf(asked)), view);
}

/** The most table rows on a page, so that one with long names stays below 300 KB. The API and CSV have more. */
export const MAX_TABLE_ROWS = 190;

/** The text in a table's search field. */
export const searchOf = (c: DashboardContext): string =>
  readAs(z.object({ q: searchText() }), { q: c.req.query('q')?.slice(0, 256) }).q ?? '';

/** The number of rows to request: CSV files are not limited to what a page can show. */
export const listingOf = (c: DashboardContext) => ({
  ...(wantsCsv(c) ? {} : { limit: MAX_TABLE_ROWS }),
  q: searchOf(c),
});

/** The view as hidden form fields. */
export const ViewFields = ({ view, changes = {} }: { view: View | null; changes?: ViewChanges }) => (
  <HiddenFields fields={viewParameters(view, changes)} />
);

/** The input of a search by name, in a form. */
export const NameSearch = ({
  q,
  label = 'Search',
  placeholder = 'Filter by name',
  ...rest
}: {
  q: string;
  label?: string;
  placeholder?: string;
  class?: string;
}) => (
  <>
    <label for="field-q" class="visually-hidden">
      {label}
    </label>
    <input
      id="field-q"
      type="search"
      name="q"
      value={q}
      maxlength={256}
      placeholder={placeholder}
      autocomplete="off"
      {...rest}
    />
  </>
);

/** A table's search field. The server searches, because the table may not have all rows. */
export const TableSearch = ({ view, path, carry = {}, q }: Here & { q: string }) => (
  <form method="get" action={path} class="find-row" data-search-form>
    <ViewFields view={view} changes={carry} />
    <NameSearch q={q} />
    <button type="submit" class="quiet">
      Search
    </button>
  </form>
);

export const rowsText = (rows: number): string => `${count(rows)} ${rows === 1 ? 'row' : 'rows'}`;

/** How many rows of a long table are shown, how they were chosen, and where the rest is. */
export const RowCount = ({
  rows,
  total,
  q = '',
}: {
  rows: readonly { is_other?: unknown; is_unallocated?: unknown }[];
  total: number;
  q?: string;
}) => {
  const shown = rows.filter(isOfGroup).length;
  const found = q === '' ? '' : ` that ${total === 1 ? 'contains' : 'contain'} “${q}”`;
  if (shown >= total) return q === '' ? null : <p class="hint">{`${rowsText(total)}${found}.`}</p>;
  return (
    <p class="hint">
      {`The first ${count(shown)} of ${count(total)} rows${found}: the latest, then those with the highest revenue. The last row sums up everything else.`}
    </p>
  );
};

export const CsvLink = ({
  view,
  path,
  carry = {},
  isButton = false,
  of = '',
}: Here & {
  isButton?: boolean;
  /** What the file has, if that is not everything. */
  of?: string;
}) => (
  <a
    href={path + viewQuery(view, { ...carry, format: 'csv' })}
    {...(isButton ? { class: 'button quiet' } : {})}
  >
    CSV{of && ` of ${of}`}
  </a>
);

/** The time zone of days, which every chart and table states. */
export const Zone = ({ view }: { view: View }) => (
  <p class="zone">
    Days in {view.application.timezone}
    {view.to >= view.today ? '; today is not over' : ''}.
  </p>
);
