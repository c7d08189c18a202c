import type { Child } from 'hono/jsx';
import { type Channel, channelText, DIGESTS } from '#alerts';
import { ago } from '#lib/format';
import { PostForm } from '../../forms/fields.tsx';
import type { Submitted } from '../../forms/form.ts';
import { timeText } from '../../shell/dates.ts';
import { Action, Card, FormMenu } from '../../shell/parts.tsx';
import { type View, viewQuery } from '../../shell/view.ts';
import { CHANNEL_NAMES, DIGEST_NAMES, optionsOf } from '../../shell/words.ts';
import { Table } from '../../tables/table.tsx';

export type PartProps = { view: View; mayChange: boolean };

/** How often a channel gets a digest, and when the next one is due. */
const DigestTime = ({ channel, timezone }: { channel: Channel; timezone: string }) => (
  <>
    {DIGEST_NAMES[channel.digest]}
    {channel.nextDigestAt !== null && (
      <div class="muted">Next {timeText(channel.nextDigestAt, timezone)}</div>
    )}
  </>
);

/** The channels, with the form of a new one. */
export function ChannelsCard({ view, rows, mayChange, form }: PartProps & { rows: Channel[]; form: Child }) {
  const query = viewQuery(view);
  const { now } = view;
  const { timezone } = view.application;
  return (
    <Card title="Where messages go" aside={form}>
      <Table
        caption="Channels"
        rows={rows}
        empty="No channels yet. Without one, alerts appear only on this page."
        columns={[
          { label: 'Channel', cell: (channel) => CHANNEL_NAMES[channel.kind] },
          { label: 'Address', cell: (channel) => channelText(channel) },
          { label: 'Digest', cell: (channel) => <DigestTime channel={channel} timezone={timezone} /> },
          {
            label: 'State',
            wrap: true,
            cell: (channel) =>
              channel.failure === null ? (
                <span class="badge good">OK</span>
              ) : (
                <>
                  <span class="badge bad">Failed {ago(channel.failedAt ?? now, now)}</span> {channel.failure}
                </>
              ),
          },
        ]}
        actions={
          mayChange &&
          ((channel) => (
            <span class="actions">
              <Action to={`/alerts/channels/${channel.id}/test${query}`} label="Send a test" kind="quiet" />
              <Action
                to={`/alerts/channels/${channel.id}/remove${query}`}
                label="Remove"
                kind="danger"
                confirm={`Remove ${channelText(channel)}?`}
              />
            </span>
          ))
        }
      />
    </Card>
  );
}

export const NewChannelForm = ({
  view,
  mail,
  values,
  faults,
}: Required<Submitted> & { view: View; mail: boolean }) => (
  <FormMenu label="New channel" id="channel" kind="quiet" open={faults.length > 0}>
    <PostForm
      to={`/alerts/channels${viewQuery(view)}`}
      button="Add channel"
      fields={[
        {
          label: 'Channel',
          name: 'channel_kind',
          value: 'webhook',
          options: [['webhook', 'Webhook (Slack, Discord)'], ...(mail ? [['mail', 'Email'] as const] : [])],
        },
        {
          label: 'Address',
          name: 'target',
          maxlength: 2048,
          hint: mail
            ? 'The URL of a webhook (https) or an email address'
            : 'The URL of a webhook (https). Email is not set up: ask whoever runs this service.',
          required: true,
        },
        {
          label: 'Digest',
          name: 'digest',
          value: 'daily',
          options: optionsOf(DIGESTS, DIGEST_NAMES),
          hint: `At 08:00 (${view.application.timezone}); weekly: on Mondays`,
        },
      ]}
      values={values}
      faults={faults}
    />
    <p class="muted">
      A webhook receives <code>{'{"text": "…"}'}</code>, which Slack and Mattermost understand, and one of
      Discord its own format.
    </p>
  </FormMenu>
);
