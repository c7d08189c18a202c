import { database } from '#db';
import { NOTHING } from '#lib/format';
import { isolate } from '#lib/input/isolate';
import { mayAdminister } from '#members';
import {
  boundTo,
  createShareLink,
  listShareLinks,
  listViews,
  newShareLink,
  newView,
  removeView,
  revokeShareLink,
  saveView,
  viewAddress,
} from '#views';
import type { FormField } from '../../forms/field.tsx';
import { Fields } from '../../forms/fields.tsx';
import { again, requireForm, type Submitted } from '../../forms/form.ts';
import { redirectShowing, takeShown } from '../../forms/show-once.ts';
import { CopyNow } from '../../shell/copyable.tsx';
import { dateOfTime, timeText } from '../../shell/dates.ts';
import { changing, redirectDone } from '../../shell/done.ts';
import { admin, callerOf, isAdmin } from '../../shell/guard.ts';
import { renderPage } from '../../shell/page.tsx';
import { type DashboardContext, isSavable, type PageRecord, pageRoutes } from '../../shell/page-record.ts';
import { Action, Card, Notice } from '../../shell/parts.tsx';
import { requireView, zoneOf } from '../../shell/view.ts';
import { Table } from '../../tables/table.tsx';

const PATH = '/views';

const LIFETIMES = [
  ['1', '1 day'],
  ['7', '7 days'],
  ['30', '30 days'],
  ['90', '90 days'],
  ['365', '1 year'],
] as const;

const VIEW_FIELDS: readonly FormField[] = [
  { label: 'Name', name: 'name', maxlength: 100, hint: 'Your whole team sees it', required: true },
];
const LINK_FIELDS: readonly FormField[] = [
  {
    label: 'Recipient',
    name: 'note',
    maxlength: 255,
    hint: 'A name, for your own list of links',
    required: true,
  },
  { label: 'Expires after', name: 'days', value: '30', options: LIFETIMES },
];

type StoredView = { path: string; query: string };

/** The title of a view's page. */
const pageReader = (c: DashboardContext) => {
  const titles = new Map(c.get('pages').map(({ path, title }) => [path, title]));
  return ({ path }: StoredView) => titles.get(path) ?? path;
};

const savable = (c: DashboardContext) => (path: string) => isSavable(c.get('pages'), path);

/** Forms to save or share the view that the person came from. They have no field in common. */
const NewForms = ({
  page,
  address,
  shown,
  mayShare,
}: {
  page: string;
  address: string;
  shown: Submitted;
  mayShare: boolean;
}) => {
  const target = <input type="hidden" name="address" value={address} />;
  if (shown.faults?.some(({ path }) => path === 'address')) {
    return (
      <Notice kind="bad">
        This page cannot be saved or shared. Open a report and choose “Save or share”.
      </Notice>
    );
  }
  return (
    <Card title={`Save or share this view of ${page}`} aside={<a href={address}>Back to the view</a>}>
      <form method="post" action="/views" class="row">
        {target}
        <Fields fields={VIEW_FIELDS} {...shown} />
        <button type="submit">Save view</button>
      </form>
      {mayShare && (
        <form method="post" action="/views/links" class="row">
          {target}
          <Fields fields={LINK_FIELDS} {...shown} />
          <button type="submit" class="quiet">
            Create link
          </button>
        </form>
      )}
      {mayShare && (
        <p class="muted">
          Whoever has the link sees this one page with these filters, without signing in, and nothing else.
          Relative periods such as “last 7 days” stay relative.
        </p>
      )}
    </Card>
  );
};

async function viewsPage(c: DashboardContext, shown: Submitted = {}) {
  const db = database(c.env.DB);
  const pageOf = pageReader(c);
  const { team, email } = c.get('person');
  const mayShare = isAdmin(c);
  const [views, links] = await Promise.all([
    listViews(db, team.id),
    mayShare ? listShareLinks(db, team.id) : [],
  ]);
  const address = shown.values?.address ?? c.req.query('for') ?? '';
  const zone = await zoneOf(c);
  const { shareLink } = await takeShown(c, PATH);
  return renderPage(
    c,
    {},
    <>
      <CopyNow text={shareLink} label="share link">
        <strong>Copy this link now.</strong> It is shown only once.
      </CopyNow>
      {address !== '' && !shareLink && (
        <NewForms
          page={pageOf({ path: address.split('?')[0] ?? '', query: '' })}
          address={address}
          shown={shown}
          mayShare={mayShare}
        />
      )}
      <Card title="Saved views">
        <Table
          caption="Saved views"
          rows={views}
          empty="None yet. Open a report, set its filters, and choose “Save or share”."
          columns={[
            {
              label: 'Name',
              wrap: true,
              cell: (view) => (
                <a href={viewAddress(view)}>
                  <bdi>{view.name}</bdi>
                </a>
              ),
            },
            { label: 'Page', cell: pageOf },
            { label: 'Saved by', cell: (view) => view.createdBy },
            { label: 'Saved', cell: (view) => dateOfTime(view.createdAt, zone) },
          ]}
          actions={(view) =>
            mayShare || view.createdBy === email ? (
              <Action
                to={`/views/${view.id}/remove`}
                label="Remove"
                kind="danger"
                confirm={`Remove “${isolate(view.name)}” for the whole team?`}
              />
            ) : (
              NOTHING
            )
          }
        />
      </Card>
      {mayShare && (
        <Card title="Share links">
          <Table
            caption="Share links"
            rows={links}
            empty="None yet. A share link shows one view to people who have no account."
            columns={[
              { label: 'Shared with', wrap: true, cell: (link) => link.note },
              { label: 'View', cell: (link) => <a href={viewAddress(link)}>{pageOf(link)}</a> },
              { label: 'Created by', cell: (link) => link.createdBy },
              {
                label: 'Ends',
                hint: `Times in ${zone}`,
                cell: (link) => (link.expiresAt > Date.now() ? timeText(link.expiresAt, zone) : 'Ended'),
              },
            ]}
            actions={(link) => (
              <Action
                to={`/views/links/${link.hash}/revoke`}
                label="Revoke"
                kind="danger"
                confirm={`Revoke the link for ${link.note}?`}
              />
            )}
          />
        </Card>
      )}
    </>,
  );
}

const remove = changing(PATH, 'deleted', (caller, id, c) => removeView(caller, id, { onlyOwn: !isAdmin(c) }));

const routes = pageRoutes()
  .get('/', (c) => viewsPage(c))
  .post('/', again(viewsPage), async (c) => {
    await saveView(callerOf(c), await requireForm(c, newView(savable(c))));
    return redirectDone(c, '/views', 'saved');
  })
  .post('/links', admin, again(viewsPage), async (c) => {
    const data = await requireForm(c, newShareLink(savable(c)));
    const { application } = await requireView(c);
    const address = boundTo(data.address, application.id);
    const caller = callerOf(c);
    const secret = await createShareLink(caller, { ...data, address }, mayAdminister(caller));
    return redirectShowing(c, PATH, { shareLink: `${new URL(c.req.url).origin}/shared/${secret}` });
  })
  .post('/links/:id/revoke', admin, changing(PATH, 'revoked_link', revokeShareLink))
  .post('/:id/remove', remove);

export const views: PageRecord = {
  path: '/views',
  title: 'Saved views',
  links: [{ group: '', icon: 'M4 2h8v12l-4-3-4 3z', keepsView: false }],
  routes,
};
