import { COST_DIMENSIONS, ofDimensions, SEGMENT, valueName } from '#catalogue';
import { type listCosts, namesText } from '#money';
import { dayText } from '../../shell/dates.ts';
import { count, money, percent, RATIOS } from '../../shell/format.ts';
import { Card, type Column, Table } from '../../shell/parts.tsx';
import { type View, viewQuery } from '../../shell/view.ts';

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
  unmatched,
  mayChange,
}: {
  view: View;
  page: Awaited<ReturnType<typeof listCosts>>;
  unmatched: boolean;
  mayChange: boolean;
}) {
  const amount = (value: number | null, { currency }: Cost) => money(value, currency);
  const ctrPlaces = RATIOS.places(page.data.flatMap((row) => ratio(row.clicks, row.impressions) ?? []));
  const costs: Column<Cost>[] = [
    { label: 'Day', cell: (row) => dayText(row.date, view.today) },
    {
      label: 'Spent on',
      cell: (row) => {
        const parts = [row.campaign, row.adset, row.creative].filter((name) => name !== null);
        const within = parts.slice(0, -1).join(' › ');
        return (
          <>
            <span class="cut" dir="auto" title={namesText(row)}>
              {parts.at(-1)}
            </span>
            {within !== '' && (
              <span class="cut muted" dir="auto">
                {within}
              </span>
            )}
          </>
        );
      },
    },
    // Most costs state none of these.
    ...COST_DIMENSIONS.filter((name) => page.data.some((row) => row[name] !== null)).map((name) => ({
      label: SEGMENT[name].label,
      cell: (row: Cost) => row[name] && valueName(name, row[name]),
    })),
    { label: 'Amount', numeric: true, cell: (row) => amount(row.amount, row) },
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
      cell: (row) => percent(ratio(row.clicks, row.impressions), ctrPlaces),
    },
    {
      label: 'CPC',
      hint: 'Cost per click',
      numeric: true,
      cell: (row) => amount(ratio(row.amount, row.clicks), row),
    },
    {
      label: 'CPM',
      hint: 'Cost per 1,000 impressions',
      numeric: true,
      cell: (row) => {
        const each = ratio(row.amount, row.impressions);
        return amount(each === null ? null : each * 1000, row);
      },
    },
  ];
  const edit: Column<Cost> = {
    label: 'Edit',
    cell: (row) => (
      <a
        href={`/costs/row${viewQuery(view, keyOf(row))}`}
        aria-label={`Edit the costs of ${row.date}, ${namesText(row)}`}
      >
        Edit
      </a>
    ),
  };
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
        columns={mayChange ? [...costs, edit] : costs}
        sticky
        empty={unmatched ? 'Every name in this period matches.' : 'No older costs in this period.'}
      />
      {page.next_cursor && (
        <p class="pages">
          <a
            href={`/costs${viewQuery(view, { unmatched: unmatched ? 'true' : '', cursor: page.next_cursor })}#ledger`}
          >
            Older costs
          </a>
        </p>
      )}
    </Card>
  );
}
