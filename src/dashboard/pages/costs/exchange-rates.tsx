import type { PropsWithChildren } from 'hono/jsx';
import { database } from '#db';
import { type Fault, readAs } from '#http';
import { CURRENCIES } from '#lib/currencies';
import { count } from '#lib/format';
import {
  ExchangeRates,
  FURTHER_RANKS_DAYS_OLDER,
  listRates,
  type RateSource,
  RatesQuery,
  saveRates,
} from '#money';
import { PostForm } from '../../forms/fields.tsx';
import { requireForm, type Submitted } from '../../forms/form.ts';
import { dayText } from '../../shell/dates.ts';
import { redirectDone } from '../../shell/done.ts';
import { callerOf, isAdmin } from '../../shell/guard.ts';
import type { DashboardContext } from '../../shell/page-record.ts';
import { Card, FormMenu } from '../../shell/parts.tsx';
import { renderReport, ViewFields } from '../../shell/report.tsx';
import { readView, type View, viewQuery } from '../../shell/view.ts';
import { NextPart, Table } from '../../tables/table.tsx';

const PAGE = 100;

const DIGITS = 6;

/** The decimals of a column of rates: as many as one of them needs for six digits. */
const placesOf = (rates: readonly number[]): number =>
  Math.max(
    0,
    ...rates.map(
      (rate) =>
        /\.(\d+)$/.exec(Number(rate.toPrecision(DIGITS)).toFixed(12).replace(/0+$/, ''))?.[1]?.length ?? 0,
    ),
  );

const SOURCES: Readonly<Record<RateSource, string>> = {
  team: 'Your team',
  reference: 'Reference',
  further: 'Further source',
};

export const CostTabs = ({
  view,
  current,
  children,
}: PropsWithChildren<{ view: View; current: '/costs' | '/costs/rates' }>) => (
  <div class="tabs">
    <nav class="tabs-links" aria-label="Costs">
      {(
        [
          ['/costs', 'Costs'],
          ['/costs/rates', 'Exchange rates'],
        ] as const
      ).map(([path, label]) => (
        <a href={path + viewQuery(view)} {...(path === current ? { 'aria-current': 'page' as const } : {})}>
          {label}
        </a>
      ))}
    </nav>
    <div class="tabs-tools">{children}</div>
  </div>
);

const NewRate = ({ view, values, faults }: Required<Submitted> & { view: View }) => (
  <FormMenu label="Add a rate" id="new" open={faults.length > 0}>
    <PostForm
      to={`/costs/rates${viewQuery(view)}`}
      button="Save"
      fields={[
        { label: 'Day', name: 'date', type: 'date', value: view.today, required: true },
        { label: 'Currency', name: 'currency', maxlength: 3, hint: 'A code such as EUR', required: true },
        { label: 'Value of 1 unit', name: 'rate', hint: 'Such as 1.08', required: true },
        {
          label: 'In currency',
          subject: 'This',
          name: 'base',
          value: view.application.currency.toUpperCase(),
          maxlength: 3,
          required: true,
        },
      ]}
      values={values}
      faults={faults}
    />
  </FormMenu>
);

/** The rates that amounts are converted with, newest first, and a form to add one. */
export function ratesPage(c: DashboardContext, { values = {}, faults = [] }: Submitted = {}) {
  const page = {
    title: 'Exchange rates',
    inner: '/costs/rates',
    bar: ['period'],
  } as const;
  return renderReport(c, page, async (view) => {
    const currency = c.req.query('of_currency')?.trim().toLowerCase() ?? '';
    const asked = {
      from: view.from,
      to: view.to,
      limit: PAGE,
      cursor: c.req.query('cursor') ?? '',
      ...(currency === '' ? {} : { currency }),
    };
    const rates = await listRates(database(c.env.DB), view.application.teamId, readAs(RatesQuery, asked));
    const places = placesOf(rates.data.map(({ rate }) => rate));
    return (
      <>
        <CostTabs view={view} current="/costs/rates">
          <form method="get" action="/costs/rates" class="row">
            <ViewFields view={view} />
            <label for="field-of_currency" class="visually-hidden">
              Currency
            </label>
            <input
              id="field-of_currency"
              name="of_currency"
              value={currency.toUpperCase()}
              maxlength={3}
              list="currencies-used"
              placeholder="Currency"
              autocomplete="off"
            />
            <datalist id="currencies-used">
              {view.currenciesUsed.map((code) => (
                <option value={code.toUpperCase()} />
              ))}
            </datalist>
            <button type="submit" class="quiet">
              Show
            </button>
          </form>
          {isAdmin(c) && <NewRate view={view} values={values} faults={fieldFaults(faults, values)} />}
        </CostTabs>
        <Card
          title="Rates"
          info={
            <p>
              Amounts are converted with the rate of their day, or else the latest earlier one. Your own rates
              take precedence over the European Central Bank's daily reference rates. Currencies with neither
              in the last {count(FURTHER_RANKS_DAYS_OLDER)} days have the daily rates of a further public
              source.
            </p>
          }
        >
          <Table
            caption={`Exchange rates, ${view.from} to ${view.to}`}
            rows={rates.data}
            empty="No rates in this period. Reference rates are fetched on weekdays; amounts use the latest earlier rate."
            columns={[
              { label: 'Day', cell: (row) => dayText(row.date, view.today) },
              { label: 'Currency', cell: (row) => row.currency.toUpperCase() },
              {
                label: 'Value of 1 unit',
                numeric: true,
                cell: (row) => `${row.rate.toFixed(places)} ${row.base.toUpperCase()}`,
              },
              { label: 'Source', cell: (row) => SOURCES[row.source] },
            ]}
          />
          <NextPart
            cursor={rates.next_cursor}
            to={(cursor) => `/costs/rates${viewQuery(view, { of_currency: currency, cursor })}`}
          />
        </Card>
      </>
    );
  });
}

/** The API's faults as those of the form, which has one currency and one rate. */
function fieldFaults(
  faults: readonly Fault[],
  { currency = '', base = '' }: Record<string, string>,
): Fault[] {
  const code = currency.trim().toLowerCase();
  return faults.map((fault) => {
    if (!fault.path.startsWith('rates')) return fault;
    if (code === '') return { path: 'currency', message: 'is required' };
    if (code === base.trim().toLowerCase()) {
      return { path: 'currency', message: 'must not be the one that its value is in' };
    }
    return CURRENCIES.has(code)
      ? { path: 'rate', message: 'must be a number above 0, with a decimal point' }
      : { path: 'currency', message: fault.message };
  });
}

export async function uploadRates(c: DashboardContext) {
  const view = await readView(c);
  if (!view) return c.redirect('/costs/rates', 303);
  const data = await requireForm(c, ExchangeRates, ({ date, base, currency = '', rate }) => ({
    date,
    base,
    rates: { [currency.trim().toLowerCase()]: rate },
  }));
  await saveRates(callerOf(c), data);
  return redirectDone(c, `/costs/rates${viewQuery(view)}`, 'saved');
}
