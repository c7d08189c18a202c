import type { PropsWithChildren } from 'hono/jsx';
import { ATTRIBUTION_CHOICES, type AttributionChoice } from '#catalogue';
import { CURRENCIES } from '#lib/currencies';
import { count } from '#lib/format';
import { isolate } from '#lib/input/isolate';
import { dayIn } from '#lib/time';
import { clockText, shortDay, shortDays } from './dates.ts';
import { type Chip, FILTER_LABELS } from './filter-names.ts';
import { cutMiddle, HiddenFields } from './parts.tsx';
import { COMPARISONS, isUncompared, PERIODS } from './period.ts';
import {
  FILTER_NAMES,
  type Here,
  NO_FILTERS,
  type View,
  viewParameters,
  viewQuery,
  withoutFilter,
} from './view.ts';

/** The parts of the filter bar. */
export type BarPart = 'period' | 'comparison' | 'filters' | 'currency';

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
  period: ['period', 'from', 'to'],
  comparison: ['compare'],
  currency: ['currency'],
  filters: [],
};

/** A list of choices that looks like a word of the sentence. */
const Pick = ({ id, label, children }: PropsWithChildren<{ id: string; label: string }>) => (
  <div class="field pick">
    <label for={id}>{label}</label>
    {children}
  </div>
);

const Currency = ({ view }: { view: View }) => {
  const used = [...new Set([view.application.currency, view.currency, ...view.currenciesUsed])];
  const option = (code: string) => (
    <option value={code} selected={view.currencyChosen && code === view.currency}>
      {code.toUpperCase()}
    </option>
  );
  return (
    <Pick id="bar-currency" label="Currency">
      <select id="bar-currency" name="currency">
        <option value="" selected={!view.currencyChosen}>
          {view.application.currency.toUpperCase()} (default)
        </option>
        <optgroup label="In use">{used.map(option)}</optgroup>
        <optgroup label="All currencies">
          {[...CURRENCIES].filter((code) => !used.includes(code)).map(option)}
        </optgroup>
      </select>
    </Pick>
  );
};

const PeriodFields = ({ view }: { view: View }) => (
  <>
    <Pick id="bar-period" label="Period">
      <select id="bar-period" name="period" data-custom="custom" data-uncompared="all">
        <Options names={PERIODS} chosen={view.period} />
      </select>
    </Pick>
    <div class="field custom-dates">
      <label for="bar-from">From</label>
      <input id="bar-from" type="date" name="from" value={view.from} />
    </div>
    <div class="field custom-dates">
      <label for="bar-to">To</label>
      <input id="bar-to" type="date" name="to" value={view.to} />
    </div>
    {view.period !== 'custom' && <span class="dates">{shortDays(view, view.today)}</span>}
  </>
);

const ComparisonField = ({ view }: { view: View }) => (
  <Pick id="bar-compare" label="Comparison">
    {isUncompared(view.period) ? (
      <select id="bar-compare" disabled>
        <option>No earlier period</option>
      </select>
    ) : (
      <select id="bar-compare" name="compare">
        <Options names={COMPARISONS} chosen={view.comparison} />
      </select>
    )}
  </Pick>
);

/** Through when the figures are complete; empty if that is unknown. */
function completeText({ countedThrough, today, application: { timezone } }: View): string {
  if (countedThrough === null) return '';
  const day = dayIn(timezone, countedThrough);
  const time = clockText(countedThrough, timezone);
  return `Complete through ${day === today ? time : `${shortDay(day)} ${time}`} ${timezone}`;
}

/** How far the figures are complete, in one quiet line. While events are being counted, a script renews it. `here` is the page's address. */
export const Freshness = ({ view, here }: { view: View; here: string }) => {
  if (view.countedThrough === null && view.isSettled) return null;
  const text = completeText(view);
  return (
    <span
      class={view.isSettled ? 'fresh' : 'fresh counting'}
      id="fresh"
      role="status"
      {...(view.isSettled
        ? {}
        : { 'data-live': '5', 'data-from': `/status/fresh${viewQuery(view, { back: here })}` })}
    >
      <span class="dot" aria-hidden="true" />
      {view.isSettled ? (
        text
      ) : (
        <>
          <progress aria-label="Counting the newest events" />
          <a href={`/status${viewQuery(view)}`}>
            {view.uncounted ? `Counting ${count(view.uncounted)} newer events` : 'Counting the newest events'}
          </a>
          {text && ` · ${text}`}
        </>
      )}
    </span>
  );
};

const BASES: Record<AttributionChoice, { label: string; title: string }> = {
  paid: { label: 'Paid', title: 'Devices that an ad brought' },
  organic: { label: 'Organic', title: 'Devices that no ad brought' },
  all: { label: 'All', title: 'All devices, and what all of them earned against spend' },
};

/** Whose figures a page shows. Unless one is chosen, those of all devices, with paid ones against spend. */
const BasisSwitch = ({ view, path, carry }: Here) => (
  <span class="seg basis">
    {ATTRIBUTION_CHOICES.map((value) => (
      <a
        href={path + viewQuery(view, { ...carry, attribution: value })}
        title={BASES[value].title}
        {...((view.filters.attribution ?? 'all') === value ? { 'aria-current': 'true' as const } : {})}
      >
        {BASES[value].label}
      </a>
    ))}
  </span>
);

/** A menu of filters. Each entry leads to the list of its values, which a script shows in place. */
const AddFilter = ({ view, path, carry }: Here) => {
  const here = path + viewQuery(view, carry);
  return (
    <details class="add-filter" data-filter-menu>
      <summary>Add filter</summary>
      <ul>
        {FILTER_NAMES.filter((name) => name !== 'attribution').map((name) => (
          <li>
            <a
              href={`/filters${viewQuery(view, { kind: name, back: here })}`}
              data-filter-values
            >{`${FILTER_LABELS[name]}…`}</a>
          </li>
        ))}
      </ul>
    </details>
  );
};

/** A filter that is set, as the link that removes it. */
export const ChipLink = ({
  href,
  filter,
  value,
  title,
}: {
  href: string;
  filter: string;
  value: string;
  title: string;
}) => (
  <a class="chip" href={href} aria-label={`Remove the filter ${filter}: ${isolate(value)}`} title={title}>
    <span class="chip-text">
      <span class="muted">{filter}</span> <bdi>{cutMiddle(value)}</bdi>
    </span>
    <span aria-hidden="true">×</span>
  </a>
);

const Chips = ({ view, path, carry, chips }: Here & { chips: readonly Chip[] }) =>
  chips.length === 0 ? null : (
    <ul class="chips" aria-label="Filters">
      {chips.map(({ name, value, label }) => (
        <li>
          <ChipLink
            href={path + viewQuery(view, { ...carry, ...withoutFilter(view, name, value) })}
            filter={FILTER_LABELS[name]}
            value={label}
            title={`${FILTER_LABELS[name]}: ${isolate(label)}`}
          />
        </li>
      ))}
      {chips.length > 1 && (
        <li>
          <a href={path + viewQuery(view, { ...carry, ...NO_FILTERS })}>Clear all</a>
        </li>
      )}
    </ul>
  );

/** The filter bar, a form that works in any browser; a script submits it on every change. */
export const Filters = ({
  shown = ['period', 'comparison', 'filters', 'currency'],
  chips = [],
  ...here
}: Here & { shown?: readonly BarPart[] | undefined; chips?: readonly Chip[] }) => {
  const { view, path, carry } = here;
  const set = new Set(['app', ...shown.flatMap((part) => SET_BY[part])]);
  const hidden = [...viewParameters(view, carry)].filter(([name]) => !set.has(name));
  const summary = [
    view.application.name,
    ...(shown.includes('period')
      ? [`${view.period === 'custom' ? '' : `${PERIODS[view.period]}, `}${shortDays(view, view.today)}`]
      : []),
    ...(chips.length > 0 ? [`${chips.length} ${chips.length === 1 ? 'filter' : 'filters'}`] : []),
  ].join(' · ');
  return (
    <div class="bar-frame">
      <details class="view-bar">
        <summary>{summary}</summary>
        <div class="bar-fields">
          <form method="get" action={path} class="bar-form" autocomplete="off" data-submit-on-change>
            <input type="hidden" name="app" value={view.application.id} />
            <HiddenFields fields={hidden} />
            {shown.includes('period') && <PeriodFields view={view} />}
            {shown.includes('comparison') && <ComparisonField view={view} />}
            {shown.includes('currency') && <Currency view={view} />}
            <button type="submit" class="quiet" data-apply>
              Apply
            </button>
          </form>
          {shown.includes('filters') && <BasisSwitch {...here} />}
          {shown.includes('filters') && <AddFilter {...here} />}
        </div>
      </details>
      <Chips {...here} chips={chips} />
      <Freshness view={view} here={path + viewQuery(view, carry)} />
    </div>
  );
};
