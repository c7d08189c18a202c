import { AUDIT_ACTIONS, type AuditAction, listActors, listAudit } from '#audit';
import { database } from '#db';
import { idOf, pageOf } from '#http';
import { ChoiceForm } from '../../forms/fields.tsx';
import { readActorNames } from '../../shell/actors.ts';
import { exactTimeText } from '../../shell/dates.ts';
import { type DashboardContext, type PageRecord, pageRoutes } from '../../shell/page-record.ts';
import { Card } from '../../shell/parts.tsx';
import { zoneOf } from '../../shell/view.ts';
import { optionsOf } from '../../shell/words.ts';
import { NextPart, Table } from '../../tables/table.tsx';
import { renderSettings } from './settings-page.tsx';

const PAGE = 100;

const ACTION_NAMES: Readonly<Record<AuditAction, string>> = {
  'access_token.created': 'Created an access token',
  'access_token.revoked': 'Revoked an access token',
  'access_token.taken_over': 'Took over an access token',
  'alert.changed': 'Changed an alert',
  'alert.created': 'Added an alert',
  'alert.removed': 'Removed an alert',
  'api_key.regenerated': 'Regenerated an API key',
  'intake_secret.created': 'Created an intake secret',
  'api_key.shown': 'Looked at an API key',
  'app_store_app.confirmed': 'Confirmed an App Store app',
  'app_store_app.moved': 'Moved an App Store app',
  'application.changed': 'Changed an application',
  'adset.external_ids_saved': 'Saved the ids of an ad set at networks',
  'application.created': 'Created an application',
  'application.deleted': 'Deleted an application',
  'campaign.external_ids_saved': 'Saved the ids of a campaign at networks',
  'channel.created': 'Added a channel',
  'channel.removed': 'Removed a channel',
  'connector.backfill': 'Had a connector read days again',
  'connector.created': 'Added a connector',
  'connector.credentials_replaced': 'Replaced the credentials of a connector',
  'connector.removed': 'Removed a connector',
  'connector.run': 'Ran a connector',
  'destination.changed': 'Changed a destination',
  'destination.created': 'Added a destination',
  'destination.removed': 'Removed a destination',
  'destination.replayed': 'Sent deliveries again',
  'destination.secret_rotated': 'Rotated a signing secret',
  'destination.tested': 'Tested a destination',
  'cost_names.mapped': 'Mapped names of costs',
  'cost_names.unmapped': 'Removed a mapping of costs',
  'costs.columns_changed': 'Chose the columns of cost files',
  'costs.deleted': 'Deleted costs',
  'costs.uploaded': 'Uploaded costs',
  'counting.resumed': 'Resumed counting',
  'creative.archived': 'Archived a creative',
  'creative.link_changed': 'Changed the deep link or preview of a creative',
  'creative.network_changed': 'Changed the network of a creative',
  'creative.created': 'Created a creative',
  'creative.external_ids_saved': 'Saved the ids of a creative at networks',
  'creative.unarchived': 'Unarchived a creative',
  'device.erased': 'Erased a device',
  'exchange_rates.uploaded': 'Uploaded exchange rates',
  'member.invitation_withdrawn': 'Withdrew an invitation',
  'member.invited': 'Invited someone',
  'member.joined': 'Joined the team',
  'member.password_changed': 'Changed their password',
  'member.second_factor_added': 'Added an authenticator app to their sign-in',
  'member.second_factor_removed': 'Removed the authenticator app of their sign-in',
  'member.passkey_added': 'Added a passkey',
  'member.passkey_removed': 'Removed a passkey',
  'member.password_reset': 'Chose a new password',
  'member.password_reset_created': 'Created a password link',
  'member.removed': 'Removed a member',
  'member.role_changed': 'Changed a role',
  'note.changed': 'Changed a note',
  'note.created': 'Added a note',
  'note.removed': 'Removed a note',
  'parked_message.discarded': 'Discarded a parked message',
  'parked_message.replayed': 'Replayed a parked message',
  'share_link.created': 'Created a share link',
  'share_link.revoked': 'Revoked a share link',
  'skan_schema.saved': 'Saved the conversion value schema',
  'team.created': 'Created the team',
  'token.revoked': 'Revoked a device token',
  'view.removed': 'Removed a saved view',
  'view.saved': 'Saved a view',
};

/** The words of a recorded action. An earlier or later release may know others. */
const actionName = (action: string) =>
  Object.hasOwn(ACTION_NAMES, action) ? ACTION_NAMES[action as AuditAction] : action;

async function auditPage(c: DashboardContext) {
  const db = database(c.env.DB);
  const { team } = c.get('person');
  const before = c.req.query('before');
  const zone = await zoneOf(c);
  const [who, what] = [c.req.query('who') ?? '', c.req.query('what') ?? ''];
  const [{ data: entries, next_cursor }, actors, actorName] = await Promise.all([
    pageOf(
      PAGE,
      (limit) => listAudit(db, team.id, { limit, actor: who, action: what, ...(before ? { before } : {}) }),
      idOf,
    ),
    listActors(db, team.id),
    readActorNames(db, team.id),
  ]);
  return renderSettings(
    c,
    {},
    <Card title="Changes and revealed secrets">
      <ChoiceForm
        path="/settings/audit"
        view={null}
        fields={[
          {
            label: 'Who',
            name: 'who',
            value: who,
            options: [['', 'Everyone'], ...actors.map((actor) => [actor, actorName(actor)] as const)],
          },
          {
            label: 'What',
            name: 'what',
            value: what,
            options: [['', 'Everything'], ...optionsOf(AUDIT_ACTIONS, ACTION_NAMES)],
          },
        ]}
      />
      <Table
        caption="Audit log"
        rows={entries}
        empty={who === '' && what === '' ? 'Nothing yet.' : 'Nothing matches.'}
        columns={[
          { label: `When (${zone})`, cell: (entry) => exactTimeText(entry.at, zone) },
          { label: 'Who', wrap: true, cell: (entry) => actorName(entry.actor) },
          { label: 'What', wrap: true, cell: (entry) => actionName(entry.action) },
          { label: 'Details', wrap: true, cell: (entry) => entry.subject },
        ]}
      />
      <NextPart
        cursor={next_cursor}
        to={(id) => `/settings/audit?${new URLSearchParams({ who, what, before: id })}`}
      />
    </Card>,
  );
}

export const audit: PageRecord = {
  path: '/settings/audit',
  title: 'Audit log',
  opens: 'admin',
  routes: pageRoutes().get('/', auditPage),
};
