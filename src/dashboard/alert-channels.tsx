import { type Channel, channelText, DIGESTS } from '#alerts';
import type { Submitted } from './form.ts';
import { ago } from './format.ts';
import { Action, Card, type Column, Field, Table } from './parts.tsx';
import { type View, viewQuery } from './view.ts';
import { CHANNEL_NAMES, DIGEST_NAMES, optionsOf } from './words.ts';

export type PartProps = { view: View; mayChange: boolean; now: number };

export function ChannelsCard({ view, rows, mayChange, now }: PartProps & { rows: Channel[] }) {
  const query = viewQuery(view);
  const actions: Column<Channel>[] = mayChange
    ? [
        {
          label: 'Actions',
          cell: (channel) => (
            <span class="actions">
              <Action to={`/alerts/channels/${channel.id}/test${query}`} label="Send a test" kind="quiet" />
              <Action
                to={`/alerts/channels/${channel.id}/remove${query}`}
                label="Remove"
                kind="danger"
                confirm={`Remove ${channelText(channel)}?`}
              />
            </span>
          ),
        },
      ]
    : [];
  return (
    <Card title="Where messages go">
      <Table
        caption="Channels"
        rows={rows}
        empty="No channels yet. Without one, alerts appear only on this page."
        columns={[
          { label: 'Channel', cell: (channel) => CHANNEL_NAMES[channel.kind] },
          { label: 'Address', cell: (channel) => channelText(channel) },
          { label: 'Digest', cell: (channel) => DIGEST_NAMES[channel.digest] },
          {
            label: 'Last message',
            wrap: true,
            cell: (channel) =>
              channel.failure === null
                ? 'No failures'
                : `Failed ${ago(channel.failedAt ?? now, now)}: ${channel.failure}`,
          },
          ...actions,
        ]}
      />
    </Card>
  );
}

export const NewChannelCard = ({
  view,
  mail,
  values,
  faults,
}: Required<Submitted> & { view: View; mail: boolean }) => (
  <Card title="New channel">
    <form method="post" action={`/alerts/channels${viewQuery(view)}`} class="row">
      <Field
        label="Kind"
        name="channel_kind"
        value={values.channel_kind ?? 'webhook'}
        options={[['webhook', 'Webhook (Slack)'], ...(mail ? [['mail', 'Email'] as const] : [])]}
      />
      <Field
        label="Address"
        name="target"
        value={values.target ?? ''}
        faults={faults}
        maxlength={2048}
        hint={
          mail
            ? 'An https URL or an email address'
            : 'An https URL. Email needs a mail binding, see docs/operations.md.'
        }
        required
      />
      <Field
        label="Digest"
        name="digest"
        value={values.digest ?? 'daily'}
        faults={faults}
        options={optionsOf(DIGESTS, DIGEST_NAMES)}
        hint={`At 8:00 in ${view.application.timezone}; weekly on Mondays`}
      />
      <button type="submit">Add channel</button>
    </form>
    <p class="muted">
      A webhook gets <code>{'{"text": "…"}'}</code>, which Slack, Mattermost and Discord (with{' '}
      <code>/slack</code> at the end of its URL) understand.
    </p>
  </Card>
);
