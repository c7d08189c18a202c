import { addDays } from '#lib/time';
import { type View, viewQuery } from './view.ts';

type Filter = 'app' | 'period' | 'currency';

const PERIODS = [7, 28, 90] as const;

/** What to look at, as a form that any browser sends; `carry` are the page's own parameters, which stay as they are. */
export const Filters = ({
  view,
  path,
  shown = ['app', 'period', 'currency'],
  carry = {},
}: {
  view: View;
  path: string;
  shown?: readonly Filter[];
  carry?: Record<string, string>;
}) => {
  const hidden = {
    ...(shown.includes('period') ? {} : { from: view.from, to: view.to }),
    ...(shown.includes('currency') ? {} : { currency: view.currency }),
    ...carry,
  };
  return (
    <div class="filter-bar">
      <form method="get" action={path} class="filters">
        {Object.entries(hidden).map(
          ([name, value]) => value && <input type="hidden" name={name} value={value} />,
        )}
        <div class="field">
          <label for="filter-app">Application</label>
          <select id="filter-app" name="app">
            {view.applications.map((application) => (
              <option value={application.id} selected={application.id === view.application.id}>
                {application.name}
              </option>
            ))}
          </select>
        </div>
        {shown.includes('period') && (
          <>
            <div class="field">
              <label for="filter-from">From</label>
              <input id="filter-from" type="date" name="from" value={view.from} required />
            </div>
            <div class="field">
              <label for="filter-to">To</label>
              <input id="filter-to" type="date" name="to" value={view.to} required />
            </div>
          </>
        )}
        {shown.includes('currency') && (
          <div class="field narrow">
            <label for="filter-currency">Currency</label>
            <input
              id="filter-currency"
              name="currency"
              value={view.currency.toUpperCase()}
              maxlength={3}
              required
            />
          </div>
        )}
        <button type="submit" class="quiet">
          Show
        </button>
      </form>
      {shown.includes('period') && (
        <p class="presets">
          {PERIODS.map((days) => (
            <a
              href={path + viewQuery(view, { ...carry, from: addDays(view.today, 1 - days), to: view.today })}
              {...(view.to === view.today && view.from === addDays(view.today, 1 - days)
                ? { 'aria-current': 'true' as const }
                : {})}
            >
              {days} days
            </a>
          ))}
          <span class="muted">Days in {view.application.timezone}</span>
        </p>
      )}
    </div>
  );
};
