import { CURRENCIES } from '#lib/currencies';
import { type Chip, FILTER_LABELS } from './filter-names.ts';
import { COMPARISONS, isUncompared, PERIODS } from './period.ts';
import {
  FILTER_NAMES,
  type FilterName,
  type View,
  viewParameters,
  viewQuery,
  withFilter,
  withoutFilter,
} from './view.ts';

/** The parts of the filter bar. `app` is always shown. */
export type BarPart = 'app' | 'period' | 'comparison' | 'filters' | 'currency';

const Options = ({ names, chosen }: { names: Readonly<Record<string, string>>; chosen: string }) => (
  <>
    {Object.entries(names).map(([value, label]) => (
      <option value={value} selected={value === chosen}>
        {label}
      </option>
    ))}
  </>
);

/** The fields that the bar's form sets itself. The rest of the view is sent as hidden fields. */
const SET_BY: Record<BarPart, readonly string[]> = {
  app: ['app'],
  period: ['period', 'from', 'to'],
  comparison: ['compare'],
  currency: ['currency'],
  filters: [],
};

const Currency = ({ view }: { view: View }) => (
  <div class="field">
    <label for="bar-currency">Currency</label>
    <select id="bar-currency" name="currency">
      <option value="" selected={!view.currencyChosen}>
        {view.application.currency.toUpperCase()} (default)
      </option>
      {[...CURRENCIES].map((code) => (
        <option value={code} selected={view.currencyChosen && code === view.currency}>
          {code.toUpperCase()}
        </option>
      ))}
    </select>
  </div>
);

const PeriodFields = ({ view }: { view: View }) => (
  <>
    <div class="field">
      <label for="bar-period">Period</label>
      <select id="bar-period" name="period" data-custom="custom" data-uncompared="all">
        <Options names={PERIODS} chosen={view.period} />
      </select>
    </div>
    <div class="field custom-dates">
      <label for="bar-from">From</label>
      <input id="bar-from" type="date" name="from" value={view.from} />
    </div>
    <div class="field custom-dates">
      <label for="bar-to">To</label>
      <input id="bar-to" type="date" name="to" value={view.to} />
    </div>
  </>
);

const ComparisonField = ({ view }: { view: View }) => (
  <div class="field">
    <label for="bar-compare">Comparison</label>
    {isUncompared(view.period) ? (
      <select id="bar-compare" disabled>
        <option>No earlier period</option>
      </select>
    ) : (
      <select id="bar-compare" name="compare">
        <Options names={COMPARISONS} chosen={view.comparison} />
      </select>
    )}
  </div>
);

type Carried = { view: View; path: string; carry: Record<string, string> };

/** A menu of filters. Each entry leads to the list of its values, which a script shows in place. */
const AddFilter = ({ view, path, carry }: Carried) => {
  const here = path + viewQuery(view, carry);
  const isSet = (name: FilterName) => view.filters[name] !== undefined;
  return (
    <details class="add-filter" data-filter-menu>
      <summary>Add filter</summary>
      <ul>
        {FILTER_NAMES.map((name) =>
          name === 'attribution' ? (
            !isSet(name) &&
            (['paid', 'organic'] as const).map((value) => (
              <li>
                <a href={path + viewQuery(view, { ...carry, ...withFilter(view, name, value) })}>
                  {value === 'paid' ? 'Paid only' : 'Organic only'}
                </a>
              </li>
            ))
          ) : (
            <li>
              <a
                href={`/filters${viewQuery(view, { kind: name, back: here })}`}
                data-filter-values
              >{`${FILTER_LABELS[name]}…`}</a>
            </li>
          ),
        )}
      </ul>
    </details>
  );
};

const Chips = ({ view, path, carry, chips }: Carried & { chips: readonly Chip[] }) =>
  chips.length === 0 ? null : (
    <ul class="chips" aria-label="Filters">
      {chips.map(({ name, value, label }) => (
        <li>
          <a
            class="chip"
            href={path + viewQuery(view, { ...carry, ...withoutFilter(view, name, value) })}
            aria-label={`Remove the filter ${FILTER_LABELS[name]}: ${label}`}
            title={`${FILTER_LABELS[name]}: ${label}`}
          >
            <span class="chip-text">
              <span class="muted">{FILTER_LABELS[name]}</span> {label}
            </span>
            <span aria-hidden="true">×</span>
          </a>
        </li>
      ))}
      {chips.length > 1 && (
        <li>
          <a
            href={
              path +
              viewQuery(view, { ...carry, ...Object.fromEntries(FILTER_NAMES.map((name) => [name, ''])) })
            }
          >
            Clear all
          </a>
        </li>
      )}
    </ul>
  );

/**
 * The filter bar, a form that works in any browser; a script submits it on every change. `carry` are the page's own parameters, which are
 * kept.
 */
export const Filters = ({
  view,
  path,
  shown = ['app', 'period', 'comparison', 'filters', 'currency'],
  carry = {},
  chips = [],
}: {
  view: View;
  path: string;
  shown?: readonly BarPart[] | undefined;
  carry?: Record<string, string>;
  chips?: readonly Chip[];
}) => {
  const set = new Set(['app', ...shown.flatMap((part) => SET_BY[part])]);
  const hidden = [...viewParameters(view, carry)].filter(([name]) => !set.has(name));
  const summary = [
    view.application.name,
    ...(shown.includes('period')
      ? [view.period === 'custom' ? `${view.from} to ${view.to}` : PERIODS[view.period]]
      : []),
    ...(chips.length > 0 ? [`${chips.length} ${chips.length === 1 ? 'filter' : 'filters'}`] : []),
  ].join(' · ');
  return (
    <div class="bar-frame">
      <details class="view-bar">
        <summary>{summary}</summary>
        <div class="bar-fields">
          <form method="get" action={path} class="bar-form" data-submit-on-change>
            <input type="hidden" name="of" value={view.application.id} />
            {hidden.map(([name, value]) => (
              <input type="hidden" name={name} value={value} />
            ))}
            <div class="field">
              <label for="bar-app">Application</label>
              <select id="bar-app" name="app">
                {view.applications.map((application) => (
                  <option value={application.id} selected={application.id === view.application.id}>
                    {application.name}
                  </option>
                ))}
              </select>
            </div>
            {shown.includes('period') && <PeriodFields view={view} />}
            {shown.includes('comparison') && <ComparisonField view={view} />}
            {shown.includes('currency') && <Currency view={view} />}
            <button type="submit" class="quiet" data-apply>
              Apply
            </button>
          </form>
          {shown.includes('filters') && <AddFilter view={view} path={path} carry={carry} />}
        </div>
      </details>
      <Chips view={view} path={path} carry={carry} chips={chips} />
    </div>
  );
};
