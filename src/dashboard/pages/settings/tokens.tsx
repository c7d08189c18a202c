import * as z from 'zod';
import { database } from '#db';
import { settingsOf } from '#env';
import { requiredName } from '#http';
import { NOTHING } from '#lib/format';
import { isolate } from '#lib/input/isolate';
import { DAY_MS } from '#lib/time';
import { type MemberCaller, mayAdminister } from '#members';
import { createAccessToken, listAccessTokens, revokeAccessToken, takeOverAccessToken } from '#teams';
import type { FormField } from '../../forms/field.tsx';
import { PostForm } from '../../forms/fields.tsx';
import { again, requireForm, type Submitted } from '../../forms/form.ts';
import { redirectShowing, takeShown } from '../../forms/show-once.ts';
import { CopyNow } from '../../shell/copyable.tsx';
import { timeText } from '../../shell/dates.ts';
import { changing } from '../../shell/done.ts';
import { callerOf } from '../../shell/guard.ts';
import { type DashboardContext, type PageRecord, pageRoutes } from '../../shell/page-record.ts';
import { Action, Card, FormMenu, Name } from '../../shell/parts.tsx';
import { zoneOf } from '../../shell/view.ts';
import { Table } from '../../tables/table.tsx';
import { renderSettings } from './settings-page.tsx';

const PATH = '/settings/tokens';

const LIFETIMES = [
  ['30', '30 days'],
  ['90', '90 days'],
  ['365', '1 year'],
  ['0', 'Never'],
] as const;

const FIELDS: readonly FormField[] = [
  { label: 'Name', name: 'name', maxlength: 255, required: true },
  { label: 'Expires after', name: 'days', value: '90', options: LIFETIMES },
];

const NewToken = z.object({
  name: requiredName(255),
  days: z
    .enum(
      LIFETIMES.map(([days]) => days),
      'must be one of the lifetimes',
    )
    .transform(Number),
});

async function tokensPage(c: DashboardContext, { values = {}, faults = [] }: Submitted = {}) {
  const now = Date.now();
  const { team, email } = c.get('person');
  const tokens = await listAccessTokens(database(c.env.DB), team.id);
  const { accessToken } = await takeShown(c, PATH);
  const zone = await zoneOf(c);
  return renderSettings(
    c,
    {
      tools: (
        <FormMenu label="New token" id="new" open={faults.length > 0}>
          <p class="muted">
            For the team API: creatives, costs, reports and raw events of every application of the team. Send
            it in the header <code>{settingsOf(c.env).SERVICE_NAME}-Token</code>. A token ends when its
            creator leaves the team or becomes a viewer, unless someone took it over.
          </p>
          <PostForm to={PATH} button="Create" fields={FIELDS} values={values} faults={faults} />
        </FormMenu>
      ),
    },
    <>
      <CopyNow text={accessToken} label="access token">
        <strong>Copy the token now.</strong> It is shown only once and is not stored.
      </CopyNow>
      <Card title="Tokens">
        <Table
          caption="Access tokens"
          rows={tokens}
          empty="No access tokens yet. A program needs one to use the team API."
          columns={[
            { label: 'Name', cell: (token) => <Name name={token.name} /> },
            { label: 'Created by', cell: (token) => token.createdBy ?? NOTHING },
            { label: `Created (${zone})`, cell: (token) => timeText(token.createdAt, zone) },
            {
              label: 'Expires',
              cell: (token) => (token.expiresAt === null ? 'Never' : timeText(token.expiresAt, zone)),
            },
            {
              label: 'State',
              cell: (token) => {
                if (token.revokedAt !== null) return <span class="badge">Revoked</span>;
                const hasExpired = token.expiresAt !== null && token.expiresAt <= now;
                return hasExpired ? (
                  <span class="badge">Expired</span>
                ) : (
                  <span class="badge good">Active</span>
                );
              },
            },
          ]}
          actions={(token) =>
            token.revokedAt === null ? (
              <span class="actions">
                {token.createdBy !== email && (
                  <Action to={`/settings/tokens/${token.id}/take-over`} label="Take over" kind="quiet" />
                )}
                <Action
                  to={`/settings/tokens/${token.id}/revoke`}
                  label="Revoke"
                  kind="danger"
                  confirm={`Revoke “${isolate(token.name)}”? Whatever uses it stops working within a minute.`}
                />
              </span>
            ) : (
              NOTHING
            )
          }
        />
      </Card>
    </>,
  );
}

const takeOver = (caller: MemberCaller, id: string) => takeOverAccessToken(caller, id, mayAdminister(caller));

const routes = pageRoutes()
  .get('/', (c) => tokensPage(c))
  .post('/', again(tokensPage), async (c) => {
    const data = await requireForm(c, NewToken);
    const caller = callerOf(c);
    const expiresAt = data.days === 0 ? null : caller.now + data.days * DAY_MS;
    const { accessToken } = await createAccessToken(caller, data.name, expiresAt, mayAdminister(caller));
    return redirectShowing(c, PATH, { accessToken });
  })
  .post('/:id/take-over', changing(PATH, 'saved', takeOver))
  .post('/:id/revoke', changing(PATH, 'revoked', revokeAccessToken));

export const tokens: PageRecord = {
  path: '/settings/tokens',
  title: 'Access tokens',
  opens: 'admin',
  routes,
};
