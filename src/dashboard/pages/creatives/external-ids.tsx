import type { ExternalId } from '#creatives';
import { NETWORKS } from '#networks';
import type { Submitted } from '../../forms/form.ts';
import { Action, Field, FoldedCard, Table } from '../../shell/parts.tsx';
import type { Creative } from './test-link.tsx';

const KINDS = [
  ['creative', 'Ad, for this creative'],
  ['adset', 'Ad set'],
  ['campaign', 'Campaign'],
] as const satisfies readonly [ExternalId['kind'], string][];

const BUYING = NETWORKS.filter(({ roles }) => roles.includes('advertising'));

const nameOf = ({ network }: ExternalId) => NETWORKS.find(({ id }) => id === network)?.name ?? network;

const itemOf = ({ kind }: ExternalId, { name, adset, campaign }: Creative) =>
  ({ creative: name, adset, campaign })[kind];

type ExternalIdsProps = {
  creative: Creative;
  ids: readonly ExternalId[];
  submitted: Submitted;
  search: string;
};

/** The ids by which networks know the creative, its ad set and its campaign. */
export const ExternalIds = ({ creative, ids, submitted, search }: ExternalIdsProps) => {
  const { values = {}, faults = [] } = submitted;
  const to = (what: string) => `/creatives/${creative.id}/external-ids${what}${search}#external-ids`;
  return (
    <FoldedCard title="IDs at networks" id="external-ids" open={faults.length > 0}>
      <p class="muted">
        Installs whose referrer names an ad, and costs that connectors fetch, belong to what has the ID,
        whatever its name at the network.
      </p>
      <Table
        caption="IDs at networks of the creative, its ad set and its campaign"
        rows={ids}
        empty="No IDs yet."
        columns={[
          { label: 'Network', cell: nameOf },
          {
            label: 'Level',
            cell: ({ kind }) => (kind === 'creative' ? 'Ad' : KINDS.find(([name]) => name === kind)?.[1]),
          },
          { label: 'Here', cell: (id) => <bdi>{itemOf(id, creative)}</bdi> },
          { label: 'ID', cell: ({ id }) => <code>{id}</code> },
          {
            label: 'Actions',
            numeric: true,
            cell: (id) => <Action to={to('/remove')} label="Remove" kind="quiet" fields={id} />,
          },
        ]}
      />
      <form method="post" action={to('')} class="stack">
        <Field label="Level" name="kind" value={values.kind ?? 'creative'} options={KINDS} faults={faults} />
        <Field
          label="Network"
          name="network"
          value={values.network ?? creative.network ?? ''}
          options={BUYING.map(({ id, name }) => [id, name] as const)}
          faults={faults}
        />
        <Field label="ID" name="id" value={values.id ?? ''} maxlength={64} faults={faults} required />
        <button type="submit">Add</button>
      </form>
    </FoldedCard>
  );
};
