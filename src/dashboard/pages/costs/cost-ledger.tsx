import type { Child } from 'hono/jsx';
import { COST_DIMENSIONS, ofDimensions, SEGMENT, valueName } from '#catalogue';
import { amountsIn, columnText, count, money, RATIOS } from '#lib/format';
import { type listCosts, namesText, type sumCosts } from '#money';
import { dayText } from '../../shell/dates.ts';
import { Card, cutMiddle, NamePath } from '../../shell/parts.tsx';
import { type View, viewQuery } from '../../shell/view.ts';
import { type Column, NextPart, Table } from '../../tables/table.tsx';

export type Cost = Awaited<ReturnType<typeof listCosts>>['data'][number];

const ratio = (part: number | null, whole: number | null) =>
  part === null || whole === null || whole === 0 ? null : part / whole;

/** The key of a row of costs, as URL parameters. */
export const keyOf = (row: Cost): Record<string, string> => ({
  date: row.date,
  campaign: row.campaign,
  adset: row.adset ?? '',
  creative: row.creative ?? '',
  ...ofDimensions(COST_DIMENSIONS, (name) => row[name] ?? ''),
});

/** The costs as uploaded, with the ratios computed from their impressions and clicks. */
export function LedgerCard({
  view,
  page,
  totals,
  unmatched,
  mayChange,
}: {
  view: View;
  page: Awaited<ReturnType<typeof listCosts>>;
  /** Of all pages. */
  totals: Awaited<ReturnType<typeof sumCosts>>;
  unmatched: boolean;
  mayChange: boolean;
}) {
  /** The cells of a column of amounts. The largest sets the decimals of all, as in other tables; from 1 on, they are those of the currency. */
  const amounts = (figureOf: (row: Cost) => number | null) => {
    const values = page.data.flatMap((row) => figureOf(row) ?? []);
    return (row: Cost) => {
      const { text, places } = amountsIn(row.currency);
      return text(figureOf(row), places(values));
    };
  };
  const ctr = columnText(RATIOS, page.data, (row) => ratio(row.clicks, row.impressions));
  const costs: Column<Cost>[] = [
    { label: 'Day', cell: (row) => dayText(row.date, view.today) },
    {
      label: 'Spent on',
      cell: (row) => {
        const parts = [row.campaign, row.adset, row.creative].filter((name) => name !== null);
        return (
          <>
            <span class="cut" dir="auto" title={namesText(row)}>
              {cutMiddle(parts.at(-1) ?? '')}
            </span>
            {parts.length > 1 && (
              <span class="cut muted">
                <NamePath names={parts.slice(0, -1)} />
              </span>
            )}
          </>
        );
      },
    },
    { label: 'Amount', numeric: true, cell: amounts((row) => row.amount) },
    // Most costs state none of these.
    ...COST_DIMENSIONS.filter((name) => page.data.some((row) => row[name] !== null)).map((name) => ({
      label: SEGMENT[name].label,
      cell: (row: Cost) => row[name] && valueName(name, row[name]),
    })),
    {
      label: 'Match',
      cell: (row) => (row.matched ? 'Matched' : <span class="badge waiting">Unmatched</span>),
    },
    { label: 'Impressions', numeric: true, cell: (row) => count(row.impressions) },
    { label: 'Clicks', numeric: true, cell: (row) => count(row.clicks) },
    {
      label: 'CTR',
      hint: 'Clicks / impressions',
      numeric: true,
      cell: ctr,
    },
    {
      label: 'CPC',
      hint: 'Cost per click',
      numeric: true,
      cell: amounts((row) => ratio(row.amount, row.clicks)),
    },
    {
      label: 'CPM',
      hint: 'Cost per 1,000 impressions',
      numeric: true,
      cell: amounts((row) => {
        const each = ratio(row.amount, row.impressions);
        return each === null ? null : each * 1000;
      }),
    },
  ];
  const edit: Column<Cost> = {
    label: 'Edit',
    numeric: true,
    // What a connector fetched, its next run would restore.
    cell: (row) =>
      row.connector_id === null ? (
        <a
          href={`/costs/row${viewQuery(view, keyOf(row))}`}
          aria-label={`Edit the costs of ${dayText(row.date, view.today)}, ${namesText(row)}`}
        >
          Edit
        </a>
      ) : (
        <a href={`/connectors/${row.connector_id}${viewQuery(view)}`}>Fetched</a>
      ),
  };
  const columns = mayChange ? [...costs, edit] : costs;
  // Prices of several currencies have no total.
  const [only] = totals.amounts;
  const price = (divisor: number | null, times = 1) => {
    const each = totals.amounts.length === 1 ? ratio(only?.amount ?? null, divisor) : null;
    return only && each !== null ? amountsIn(only.currency).text(each * times) : '';
  };
  const summed = new Map<string, Child>([
    ['Day', `Total of ${count(totals.rows)}`],
    ['Amount', totals.amounts.map(({ currency, amount }) => money(amount, currency)).join(' + ')],
    ['Impressions', count(totals.impressions)],
    ['Clicks', count(totals.clicks)],
    ['CTR', RATIOS.text(ratio(totals.clicks, totals.impressions))],
    ['CPC', price(totals.clicks)],
    ['CPM', price(totals.impressions, 1_000)],
  ]);
  return (
    <Card
      title="Ledger"
      id="ledger"
      aside={
        <a href={`/costs${viewQuery(view, { unmatched: unmatched ? '' : 'true' })}#ledger`}>
          {unmatched ? 'Show all' : 'Show unmatched names only'}
        </a>
      }
    >
      <Table
        caption={`Costs as uploaded, ${view.from} to ${view.to}`}
        rows={page.data}
        columns={columns}
        totals={columns.map(({ label }) => summed.get(label) ?? '')}
        sticky
        empty={unmatched ? 'Every name in this period matches.' : 'No older costs in this period.'}
      />
      <NextPart
        cursor={page.next_cursor}
        to={(cursor) => `/costs${viewQuery(view, { unmatched: unmatched ? 'true' : '', cursor })}#ledger`}
        label="Older costs"
      />
    </Card>
  );
}
