import type { ImplausibleAmount } from '#counting';
import { count, money } from '#lib/format';
import { fromNanos } from '#lib/money';
import { exactTimeText } from '../../shell/dates.ts';
import { Card } from '../../shell/parts.tsx';
import { Table } from '../../tables/table.tsx';

const KINDS = { impression: 'Ad impression', purchase: 'Purchase' } as const;

const unitsOf = (nanos: number) => fromNanos(BigInt(nanos));

/** Amounts that were counted as sent, but are hardly meant. `linkTo`: the page of an event. */
export const ImplausibleCard = ({
  amounts,
  zone,
  linkTo,
}: {
  amounts: readonly ImplausibleAmount[];
  zone: string;
  linkTo: (eventId: string) => string;
}) => (
  <Card
    title="Implausible amounts"
    info={
      <p>
        Amounts that are more than 100 times the 99th percentile of the last days with revenue, or more than
        $5 for one impression. They are counted as they were sent. Usually the sender passes on millionths of
        a unit (micros) as units.
      </p>
    }
  >
    <Table
      caption="Implausible amounts by kind and currency"
      rows={amounts}
      empty="None. The amounts of the last days are of the same order."
      columns={[
        { label: 'Kind', cell: ({ of }) => KINDS[of] },
        { label: 'Why', cell: () => 'looks like micros' },
        { label: 'Times', numeric: true, cell: ({ count: times }) => count(times) },
        { label: 'Largest', numeric: true, cell: ({ nanos, currency }) => money(unitsOf(nanos), currency) },
        {
          label: 'Usual, at most',
          numeric: true,
          cell: ({ usualNanos, currency }) =>
            usualNanos === null ? 'too few to say' : money(unitsOf(usualNanos), currency),
        },
        {
          label: 'Example',
          cell: ({ eventId }) => (
            <a href={linkTo(eventId)}>
              <code>{eventId}</code>
            </a>
          ),
        },
        { label: `Received (${zone})`, cell: ({ receivedAt }) => exactTimeText(receivedAt, zone) },
      ]}
    />
  </Card>
);
