import type { Child } from 'hono/jsx';

type Sorted = 'ascending' | 'descending';

export type Column<Row> = {
  label: string;
  numeric?: boolean;
  /** Allows long text to wrap. */
  wrap?: boolean;
  /** Hidden on phones, to leave room for the figures. */
  wideOnly?: boolean;
  /** The unit of its figures, shown after the label. */
  unit?: string;
  /** Explains the column to people who are new to the term. */
  hint?: string | undefined;
  /** The URL that a click on the heading leads to, for sortable columns. */
  sortHref?: string;
  sorted?: Sorted;
  /** Another order of the column, such as by its change. */
  also?: { label: string; href: string; sorted?: Sorted };
  /** Additional classes and title of a row's cell. */
  classOf?: (row: Row) => string;
  titleOf?: (row: Row) => string;
  cell: (row: Row) => Child;
};

function classOf<Row>({ numeric, wrap, wideOnly }: Column<Row>): string {
  return [numeric && 'number', wrap && 'wrap', wideOnly && 'wide-only'].filter(Boolean).join(' ');
}

const sortedBy = (sorted: Sorted | undefined) => (sorted ? { 'aria-sort': sorted } : {});
const orderOf = (sorted: Sorted | undefined) => (sorted ? { 'data-order': sorted } : {});

/** A table that scrolls horizontally if it is wider than the screen. */
export function Table<Row>({
  caption,
  columns: shown,
  rows,
  empty = 'Nothing here yet.',
  actions,
  totals,
  sticky = false,
  kind = '',
}: {
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  empty?: Child;
  /** The cell of a last column, for people who may do something with a row. */
  actions?: false | ((row: Row) => Child);
  /** The last row, with one cell per column. */
  totals?: readonly Child[];
  /** Whether the header and first column stay visible while the table scrolls. */
  sticky?: boolean;
  kind?: '' | 'heat-map' | 'funnel';
}) {
  if (rows.length === 0) return <p class="empty">{empty}</p>;
  const columns = actions ? [...shown, { label: 'Actions', numeric: true, cell: actions }] : shown;
  return (
    <section class={sticky ? 'scroll sticky' : 'scroll'} aria-label={caption} tabindex={0}>
      <table class={kind}>
        <caption class="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th
                scope="col"
                class={classOf(column)}
                {...(column.hint ? { title: column.hint } : {})}
                {...sortedBy(column.sorted ?? column.also?.sorted)}
              >
                <span {...(column.unit ? { 'data-unit': column.unit } : {})}>
                  {column.sortHref ? (
                    <a href={column.sortHref} {...orderOf(column.sorted)}>
                      {column.label}
                    </a>
                  ) : (
                    column.label
                  )}
                </span>
                {column.also && (
                  <a class="also" href={column.also.href} {...orderOf(column.also.sorted)}>
                    {column.also.label}
                  </a>
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr>
              {columns.map((column) => (
                <td
                  class={[classOf(column), column.classOf?.(row)].filter(Boolean).join(' ')}
                  {...(column.titleOf ? { title: column.titleOf(row) } : {})}
                >
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
        {totals && (
          <tfoot>
            <tr>
              {columns.map((column, index) =>
                index === 0 ? (
                  <th scope="row">{totals[index]}</th>
                ) : (
                  <td class={classOf(column)}>{totals[index]}</td>
                ),
              )}
            </tr>
          </tfoot>
        )}
      </table>
    </section>
  );
}

/** The link to what follows a part of a long list; nothing at its end. */
export const NextPart = ({
  cursor,
  to,
  label = 'Older',
}: {
  cursor: string | null | undefined;
  to: (cursor: string) => string;
  label?: string;
}) =>
  cursor ? (
    <p class="pages">
      <a href={to(cursor)}>{label}</a>
    </p>
  ) : null;
