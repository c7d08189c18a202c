import { searchNames } from '#creatives';
import { database } from '#db';
import { AppError, readAs } from '#http';
import { containsText } from '#lib/search';
import { isOfGroup, PerformanceQuery, reportPerformance } from '#reports';
import { Field } from '../../forms/field.tsx';
import { FILTER_LABELS, NAMED_KINDS, valueLabel } from '../../shell/filter-names.ts';
import { safePath } from '../../shell/guard.ts';
import { renderPage } from '../../shell/page.tsx';
import { type DashboardContext, type PageRecord, pageRoutes } from '../../shell/page-record.ts';
import { cutMiddle } from '../../shell/parts.tsx';
import { searchOf, ViewFields, viewAsked } from '../../shell/report.tsx';
import { FILTER_NAMES, type FilterName, filterValues, readView, type View } from '../../shell/view.ts';
import { sortRows } from '../../tables/metrics.ts';

const MAX_VALUES = 50;

type FilterValue = { value: string; label: string; detail: string | null };

const isFilter = (name: string): name is Exclude<FilterName, 'attribution'> =>
  name !== 'attribution' && FILTER_NAMES.some((known) => known === name);

/** The values of a filter in an application: the newest names, or the values with the most installs in the period. */
async function readValues(
  env: Env,
  view: View,
  { kind, q }: { kind: Exclude<FilterName, 'attribution'>; q: string },
): Promise<FilterValue[]> {
  const named = NAMED_KINDS[kind];
  if (named) {
    const search = { kind: named, q, limit: MAX_VALUES };
    const found = await searchNames(database(env.DB), view.application.id, search);
    return found.map(({ id, name, parent }) => ({ value: id, label: name, detail: parent }));
  }
  const query = readAs(PerformanceQuery, { ...viewAsked({ ...view, filters: {} }), group_by: kind });
  const report = await reportPerformance(env, view.application, query, view.now);
  return sortRows(report.data, '-installs')
    .filter((row) => isOfGroup(row) && row[kind] !== null)
    .map((row) => ({ value: String(row[kind]), label: valueLabel(kind, String(row[kind])), detail: null }))
    .filter(({ label, value }) => containsText(`${label}\n${value}`, q))
    .slice(0, MAX_VALUES);
}

/** A page's URL with one more value of a filter. */
function withValue(back: string, name: FilterName, value: string): string {
  const [path = '/', query = ''] = back.split('?', 2);
  const parameters = new URLSearchParams(query);
  if (!parameters.getAll(name).includes(value)) parameters.append(name, value);
  return `${path}?${parameters}`;
}

async function valuesPage(c: DashboardContext) {
  const view = await readView(c);
  const kind = c.req.query('kind') ?? '';
  if (!view || !isFilter(kind)) throw new AppError('not_found', 'Filter not found');
  const back = safePath(c.req.query('back'));
  const q = searchOf(c);
  const label = FILTER_LABELS[kind];
  const chosen = new Set(filterValues(view.filters, kind));
  const values = (await readValues(c.env, view, { kind, q })).filter(({ value }) => !chosen.has(value));
  return renderPage(
    c,
    { title: `Filter by ${label.toLowerCase()}`, view },
    <div class="filter-values" id="filter-values">
      <form method="get" action="/filters" class="row" data-search-values>
        <ViewFields view={view} changes={{ kind, back }} />
        <Field label={`Search ${label.toLowerCase()}`} name="q" type="search" value={q} maxlength={256} />
        <button type="submit" class="quiet">
          Search
        </button>
      </form>
      {values.length === 0 ? (
        <p class="empty">{q === '' ? 'Nothing to choose from yet.' : `Nothing contains “${q}”.`}</p>
      ) : (
        <ul>
          {values.map(({ value, label: name, detail }) => (
            <li>
              <a href={withValue(back, kind, value)} title={detail ? `${detail} › ${name}` : name}>
                <bdi>{cutMiddle(name)}</bdi>
                {detail && (
                  <span class="muted">
                    {' '}
                    <bdi>{cutMiddle(detail)}</bdi>
                  </span>
                )}
              </a>
            </li>
          ))}
        </ul>
      )}
      {values.length === MAX_VALUES && <p class="hint">Search to find others.</p>}
    </div>,
  );
}

export const filterChoices: PageRecord = {
  path: '/filters',
  title: 'Filter',
  routes: pageRoutes().get('/', valuesPage),
};
