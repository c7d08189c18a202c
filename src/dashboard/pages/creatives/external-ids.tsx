import type { ExternalId } from '#creatives';
import type { Creative } from '#creatives/answers';
import { NETWORKS } from '#networks';
import { PostForm } from '../../forms/fields.tsx';
import { Action, FoldedCard } from '../../shell/parts.tsx';
import { Table } from '../../tables/table.tsx';
import type { CreativeFormProps } from './link-settings.tsx';

const KINDS = [
  ['creative', 'Ad, for this creative'],
  ['adset', 'Ad set'],
  ['campaign', 'Campaign'],
] as const satisfies readonly [ExternalId['kind'], string][];

const BUYING = NETWORKS.filter(({ roles }) => roles.includes('advertising'));

const nameOf = ({ network }: ExternalId) => NETWORKS.find(({ id }) => id === network)?.name ?? network;

const itemOf = ({ kind }: ExternalId, { name, adset, campaign }: Creative) =>
  ({ creative: name, adset, campaign })[kind];

type ExternalIdsProps = CreativeFormProps & { ids: readonly ExternalId[] };

/** The ids by which networks know the creative, its ad set and its campaign. */
export const ExternalIds = ({ creative, ids, submitted, search }: ExternalIdsProps) => {
  const to = (what: string) => `/creatives/${creative.id}/external-ids${what}${search}#external-ids`;
  return (
    <FoldedCard title="IDs at networks" id="external-ids" open={submitted.faults !== undefined}>
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
        ]}
        actions={(id) => <Action to={to('/remove')} label="Remove" kind="quiet" fields={id} />}
      />
      <PostForm
        to={to('')}
        button="Add"
        fields={[
          { label: 'Level', name: 'kind', value: 'creative', options: KINDS },
          {
            label: 'Network',
            name: 'network',
            value: creative.network ?? '',
            options: BUYING.map(({ id, name }) => [id, name] as const),
          },
          { label: 'ID', name: 'id', maxlength: 64, required: true },
        ]}
        {...submitted}
      />
    </FoldedCard>
  );
};
