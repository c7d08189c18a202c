import * as z from 'zod';
import type { Caller } from '#audit';
import { database } from '#db';
import { requiredName } from '#http';
import { NOTHING } from '#lib/format';
import { isolate } from '#lib/input/isolate';
import {
  changeRole,
  createPasswordReset,
  type EndBelongings,
  INVITATION_DAYS,
  invite,
  listInvitations,
  listMembers,
  RESET_HOURS,
  ROLES,
  removeMember,
  withdrawInvitation,
} from '#members';
import { endAccessTokens, listAccessTokens } from '#teams';
import { endShareLinks } from '#views';
import { PostForm } from '../../forms/fields.tsx';
import { again, requireForm, type Submitted } from '../../forms/form.ts';
import { redirectShowing, takeShown } from '../../forms/show-once.ts';
import { CopyNow } from '../../shell/copyable.tsx';
import { dateOfTime, timeText } from '../../shell/dates.ts';
import { changing } from '../../shell/done.ts';
import { callerOf } from '../../shell/guard.ts';
import { type DashboardContext, type PageRecord, pageRoutes } from '../../shell/page-record.ts';
import { Action, Card, FormMenu, Name } from '../../shell/parts.tsx';
import { zoneOf } from '../../shell/view.ts';
import { optionsOf, ROLE_NAMES } from '../../shell/words.ts';
import { Table } from '../../tables/table.tsx';
import { renderSettings } from './settings-page.tsx';

const PATH = '/settings/members';

const NewRole = z.object({ role: z.enum(ROLES, { error: `must be one of ${ROLES.join(', ')}` }) });
const Invitation = NewRole.extend({ note: requiredName(255) });

async function membersPage(c: DashboardContext, { values = {}, faults = [] }: Submitted = {}) {
  const { person } = c.var;
  const { invitation, passwordLink, email } = await takeShown(c, PATH);
  const db = database(c.env.DB);
  const now = Date.now();
  const zone = await zoneOf(c);
  const [people, tokens, invitations] = await Promise.all([
    listMembers(db, person.team.id),
    listAccessTokens(db, person.team.id),
    listInvitations(db, person.team.id, now),
  ]);
  /** The names of the working tokens that end with a member's role. */
  const tokensOf = (email: string) =>
    tokens
      .filter(({ createdBy, revokedAt }) => createdBy === email && revokedAt === null)
      .filter(({ expiresAt }) => expiresAt === null || expiresAt > now)
      .map(({ name }) => name)
      .join(', ');
  const offered = ROLES.filter((name) => name !== 'owner' || person.role === 'owner');
  return renderSettings(
    c,
    {
      tools: (
        <FormMenu label="Invite someone" id="invite" open={faults.length > 0}>
          <p class="muted">
            Viewers see every report. Admins also change settings, upload costs and see API keys. Owners also
            manage other owners. Nothing is sent by email: you get a link to pass on.
          </p>
          <PostForm
            to={PATH}
            button="Create link"
            fields={[
              { label: 'Name or email', name: 'note', maxlength: 255, required: true },
              { label: 'Role', name: 'role', value: 'viewer', options: optionsOf(offered, ROLE_NAMES) },
            ]}
            values={values}
            faults={faults}
          />
        </FormMenu>
      ),
    },
    <>
      <CopyNow text={passwordLink} label="password link">
        <strong>Copy this link now</strong> and send it to {email}. It is shown only once, works once, and
        expires after {RESET_HOURS} hours.
      </CopyNow>
      <CopyNow text={invitation} label="invitation link">
        <strong>Copy this invitation link now</strong> and send it yourself. It is shown only once, works
        once, and expires after {INVITATION_DAYS} days.
      </CopyNow>
      <Card title="People">
        <Table
          caption="Members of the team"
          rows={people}
          columns={[
            { label: 'Name', cell: (member) => <Name name={member.name} /> },
            { label: 'Email', cell: (member) => member.email },
            {
              label: 'Role',
              cell: (member) =>
                member.role === 'owner' && person.role !== 'owner' ? (
                  ROLE_NAMES[member.role]
                ) : (
                  <form method="post" action={`/settings/members/${member.userId}/role`} class="inline">
                    <select name="role" aria-label={`Role of ${isolate(member.name)}`}>
                      {offered.map((name) => (
                        <option value={name} selected={name === member.role}>
                          {ROLE_NAMES[name]}
                        </option>
                      ))}
                    </select>
                    <button
                      type="submit"
                      class="quiet"
                      aria-label={`Save the role of ${isolate(member.name)}`}
                    >
                      Save
                    </button>
                  </form>
                ),
            },
            { label: 'Access tokens', wrap: true, cell: (member) => tokensOf(member.email) || NOTHING },
            { label: 'Since', wideOnly: true, cell: (member) => dateOfTime(member.createdAt, zone) },
          ]}
          actions={(member) => (
            <span class="actions">
              {(member.role !== 'owner' || person.role === 'owner') && (
                <Action
                  to={`/settings/members/${member.userId}/password-reset`}
                  label="Reset password"
                  kind="quiet"
                />
              )}
              <Action
                to={`/settings/members/${member.userId}/remove`}
                label="Remove"
                kind="danger"
                confirm={`Remove ${isolate(member.name)}? Their sign-in, sessions, share links and access tokens end at once.`}
              />
            </span>
          )}
        />
        <p class="hint">
          Share links and access tokens end when the person who created them leaves or becomes a viewer. To
          keep a token, take it over first under <a href="/settings/tokens">Access tokens</a>.
        </p>
      </Card>
      {invitations.length > 0 && (
        <Card title="Open invitations">
          <Table
            caption="Open invitations"
            rows={invitations}
            columns={[
              { label: 'Invited', cell: (open) => <Name name={open.note} /> },
              { label: 'Role', cell: (open) => ROLE_NAMES[open.role] },
              { label: `Expires (${zone})`, cell: (open) => timeText(open.expiresAt, zone) },
            ]}
            actions={(open) => (
              <Action
                to={`/settings/members/invitations/${open.hash}/withdraw`}
                label="Withdraw"
                kind="quiet"
              />
            )}
          />
        </Card>
      )}
    </>,
  );
}

/** What ends with a member's role besides what the members themselves hold: share links and access tokens. */
const belongingsOf =
  (caller: Caller): EndBelongings =>
  (email, condition) => [
    ...endShareLinks(caller, email, condition),
    ...endAccessTokens(caller, email, condition),
  ];

const saveRole = changing(PATH, 'saved', async (caller, id, c) => {
  const { role } = await requireForm(c, NewRole);
  await changeRole(caller, id, role, belongingsOf(caller));
});

const remove = changing(PATH, 'removed', (caller, id) => removeMember(caller, id, belongingsOf(caller)));

const routes = pageRoutes()
  .get('/', (c) => membersPage(c))
  .post('/', again(membersPage), async (c) => {
    const secret = await invite(callerOf(c), await requireForm(c, Invitation));
    const invitation = `${new URL(c.req.url).origin}/join/${secret}`;
    return redirectShowing(c, PATH, { invitation });
  })
  .post('/invitations/:id/withdraw', changing(PATH, 'withdrawn', withdrawInvitation))
  .post('/:id/role', saveRole)
  .post('/:id/password-reset', async (c) => {
    const { email, secret } = await createPasswordReset(callerOf(c), c.req.param('id'));
    const passwordLink = `${new URL(c.req.url).origin}/reset-password/${secret}`;
    return redirectShowing(c, PATH, { passwordLink, email });
  })
  .post('/:id/remove', remove);

export const members: PageRecord = {
  path: '/settings/members',
  title: 'Members',
  opens: 'admin',
  routes,
};
