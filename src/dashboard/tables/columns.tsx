import { deleteCookie, getCookie } from 'hono/cookie';
import { isCohortMetric } from '#catalogue';
import { isSecure, keepChoice } from '../shell/cookies.ts';
import type { DashboardContext } from '../shell/page-record.ts';
import { ViewFields } from '../shell/report.tsx';
import type { Here } from '../shell/view.ts';
import { METRIC_DEFINITIONS, METRIC_NAMES, type MetricName } from './metrics.ts';

// The columns of a table, as ready sets or one by one. What was chosen is in the URL, and kept for the next visit of the page.

const COLUMNS_COOKIE = 'dashboard.columns';

/** The columns in the URL, or else those that this browser last chose; null if the URL names a set or nothing was chosen. */
export function readColumns(c: DashboardContext): MetricName[] | null {
  const isSet = (c.req.query('set') ?? '') !== '';
  const kept = isSet ? [] : (getCookie(c, COLUMNS_COOKIE)?.split('.') ?? []);
  const named = c.req.queries('column') ?? kept;
  const columns = METRIC_NAMES.filter((name) => named.includes(name));
  return columns.length === 0 ? null : columns;
}

/** Remembers columns that were chosen for the page at `path`, and forgets them once a set is chosen. */
export function keepColumns(c: DashboardContext, path: string, columns: readonly MetricName[] | null): void {
  if (columns && c.req.query('column') !== undefined) {
    keepChoice(c, COLUMNS_COOKIE, columns.join('.'), path);
  } else if (c.req.query('set') !== undefined && getCookie(c, COLUMNS_COOKIE) !== undefined) {
    deleteCookie(c, COLUMNS_COOKIE, { path, secure: isSecure(c) });
  }
}

type ColumnSetLink = { label: string; href: string; isChosen: boolean };

const Choices = ({
  label,
  names,
  chosen,
}: {
  label: string;
  names: readonly MetricName[];
  chosen: readonly MetricName[];
}) => (
  <fieldset>
    <legend>{label}</legend>
    {names.map((name) => (
      <label>
        <input type="checkbox" name="column" value={name} checked={chosen.includes(name)} />{' '}
        {METRIC_DEFINITIONS[name].label}
      </label>
    ))}
  </fieldset>
);

/** Chooses the columns of a page's table. `carry` is without them. */
export const ColumnsMenu = ({
  view,
  path,
  carry = {},
  sets,
  chosen,
}: Here & { sets: readonly ColumnSetLink[]; chosen: readonly MetricName[] }) => (
  <details class="pop" data-pop>
    <summary class="button quiet">Columns</summary>
    <div class="sheet right">
      <ul>
        {sets.map(({ label, href, isChosen }) => (
          <li>
            <a href={href} {...(isChosen ? { 'aria-current': 'true' as const } : {})}>
              {label}
            </a>
          </li>
        ))}
      </ul>
      <form method="get" action={path} class="columns-form">
        <ViewFields view={view} changes={carry} />
        <button type="submit">Show these</button>
        <Choices
          label="Metrics"
          names={METRIC_NAMES.filter((name) => !isCohortMetric(name))}
          chosen={chosen}
        />
        <Choices
          label="By day since the install"
          names={METRIC_NAMES.filter(isCohortMetric)}
          chosen={chosen}
        />
      </form>
    </div>
  </details>
);
