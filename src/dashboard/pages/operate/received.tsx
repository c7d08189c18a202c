import { ago, count, NOTHING } from '#lib/format';
import type { listPostbacks } from '#skan';
import type { listNotifications } from '#stores';
import { exactTimeText } from '../../shell/dates.ts';
import { type View, viewQuery } from '../../shell/view.ts';
import { type Column, Table } from '../../tables/table.tsx';

// What others than the application's clients sent, and what verifying it found.

/** Copies after the first one, which counts. */
const copies = ({ repeats, conflicts }: { repeats: number; conflicts: number }) => [
  ...(repeats > 0 ? [repeats === 1 ? 'arrived once more' : `arrived ${count(repeats)} more times`] : []),
  ...(conflicts > 0 ? [`${count(conflicts)} of them with other values, which do not count`] : []),
];

const receivedColumn = ({ application, now }: View): Column<{ receivedAt: number }> => ({
  label: 'Received',
  cell: ({ receivedAt: at }) => <span title={exactTimeText(at, application.timezone)}>{ago(at, now)}</span>,
});

type ReceivedTableProps<Row> = { rows: readonly Row[]; view: View };

type Notification = Awaited<ReturnType<typeof listNotifications>>[number];
const STORE_NAMES = { apple: 'App Store', google: 'Google Play', revenuecat: 'RevenueCat' } as const;

function outcomeOf({ reason, held, ...row }: Notification): string {
  const verified =
    reason === null
      ? 'Verified, sent to be counted'
      : `Verified, ${held === null ? 'not counted: ' : ''}${reason}`;
  return [verified, ...copies(row)].join('; ');
}

/** What stores told, verified. */
export const NotificationTable = ({ rows, view }: ReceivedTableProps<Notification>) => (
  <Table
    caption="Newest notifications of stores"
    rows={rows}
    empty="None."
    columns={[
      receivedColumn(view),
      { label: 'Store', cell: ({ store }) => STORE_NAMES[store] },
      { label: 'Type', cell: ({ type }) => type },
      { label: 'Transaction', cell: ({ transactionId }) => transactionId ?? NOTHING },
      { label: 'Verification', wrap: true, cell: outcomeOf },
      {
        label: 'Event',
        cell: ({ eventId }) =>
          eventId === null ? (
            NOTHING
          ) : (
            <a href={`/debugger/event${viewQuery(view, { id: eventId })}`}>
              <code>{eventId.slice(-8)}</code>
            </a>
          ),
      },
    ]}
  />
);

type ListedPostback = Awaited<ReturnType<typeof listPostbacks>>[number];

const FRAMEWORKS = { skadnetwork: 'SKAdNetwork', adattributionkit: 'AdAttributionKit' } as const;

function verificationOf(row: ListedPostback): string {
  const verified = row.test
    ? 'Verified with a key for development: in no report'
    : row.applicationId === ''
      ? `Verified, not counted: no application has the App Store id ${row.appId}. It is kept for 30 days, and counted once one has`
      : 'Verified, counted';
  return [verified, ...copies(row)].join('; ');
}

/** Postbacks of SKAdNetwork and AdAttributionKit, verified. */
export const PostbackTable = ({ rows, view }: ReceivedTableProps<ListedPostback>) => (
  <Table
    caption="Newest postbacks of Apple"
    rows={rows}
    empty="None."
    columns={[
      receivedColumn(view),
      {
        label: 'Framework',
        cell: ({ framework, version }) => `${FRAMEWORKS[framework]}${version ? ` ${version}` : ''}`,
      },
      { label: 'Network id', cell: ({ network }) => network },
      {
        label: 'Conversion',
        cell: ({ conversion, didWin }) => (didWin ? conversion : `${conversion}, not won`),
      },
      { label: 'Window', numeric: true, cell: ({ sequence }) => count(sequence + 1) },
      { label: 'Value', cell: ({ fine, coarse }) => (fine === null ? (coarse ?? 'hidden') : count(fine)) },
      { label: 'Transaction', cell: ({ transactionId }) => <code>{transactionId.slice(-8)}</code> },
      { label: 'Verification', wrap: true, cell: verificationOf },
    ]}
  />
);
