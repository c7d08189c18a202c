import { INVENTORY_LEVELS, searchNames } from '#creatives';
import { database } from '#db';
import { explainDeviceById, readToken } from '#devices';
import { settingsOf } from '#env';
import { EventsQuery } from '#events';
import { isId } from '#lib/ids';
import { isolate } from '#lib/input/isolate';
import { containsText } from '#lib/search';
import { groupsOf, withQuery } from '../../shell/navigation.tsx';
import { renderPage } from '../../shell/page.tsx';
import { type DashboardContext, type PageRecord, pageRoutes } from '../../shell/page-record.ts';
import { Card, Name } from '../../shell/parts.tsx';
import { searchOf, ViewFields } from '../../shell/report.tsx';
import { readView, type View, viewQuery } from '../../shell/view.ts';
import { groupLabel } from '../../tables/groups.tsx';
import { itemAddress } from '../../tables/inventory-table.tsx';

/** Of each kind of name. */
const MAX_NAMES = 8;

type SearchResult = { kind: string; label: string; detail: string | null; href: string };

/** Creatives, ad sets and campaigns whose names contain the text. */
async function findNamed(env: Env, view: View, q: string): Promise<SearchResult[]> {
  const db = database(env.DB);
  const found = await Promise.all(
    INVENTORY_LEVELS.toReversed().map(async (kind) => {
      const named = await searchNames(db, view.application.id, { kind, q, limit: MAX_NAMES });
      return named.map(({ id, name, parent }): SearchResult => {
        const href = itemAddress(view, kind, id);
        return { kind: groupLabel(kind), label: name, detail: parent, href };
      });
    }),
  );
  return found.flat();
}

/** The device that the text is the id or the token of, in any of the team's applications. */
async function findDevice(env: Env, view: View, q: string): Promise<SearchResult[]> {
  const claims = await readToken(q, settingsOf(env).TOKEN_SECRET);
  const id = claims?.deviceId ?? q;
  if (!EventsQuery.shape.device_id.safeParse(id).success) return [];
  const owners = claims
    ? view.applications.filter((one) => one.id === claims.applicationId)
    : [view.application];
  const found = await Promise.all(
    owners.map(async (application): Promise<SearchResult[]> => {
      const explained = await explainDeviceById(env, application.id, id);
      if (!explained) return [];
      const href = `/debugger/device${viewQuery(view, { app: application.id, device_id: id })}`;
      return [{ kind: 'Device', label: id, detail: application.name, href }];
    }),
  );
  return found.flat();
}

const findEvent = (view: View, q: string): SearchResult[] =>
  isId('evt', q)
    ? [{ kind: 'Event', label: q, detail: null, href: `/debugger/event${viewQuery(view, { id: q })}` }]
    : [];

const findPages = (pages: readonly PageRecord[], view: View, q: string): SearchResult[] =>
  groupsOf(pages).flatMap(({ label: group, entries }) =>
    entries
      .filter(({ label }) => containsText(label, q))
      .map(({ path, label, keepsView }) => ({
        kind: 'Page',
        label,
        detail: group === '' ? null : group,
        href: withQuery(path, keepsView ? viewQuery(view) : ''),
      })),
  );

async function searchPage(c: DashboardContext) {
  const view = await readView(c);
  const q = searchOf(c).trim();
  const found =
    view === null || q === ''
      ? []
      : (
          await Promise.all([
            findEvent(view, q),
            findDevice(c.env, view, q),
            findNamed(c.env, view, q),
            findPages(c.get('pages'), view, q),
          ])
        ).flat();
  return renderPage(
    c,
    { view },
    <>
      <form method="get" action="/search" class="row search-field">
        {view && <ViewFields view={view} />}
        <label for="search" class="visually-hidden">
          Search
        </label>
        <input
          id="search"
          type="search"
          name="q"
          value={q}
          maxlength={256}
          placeholder="A creative, campaign, device id or token, event id"
          autocomplete="off"
          data-main
          autofocus
        />
        <button type="submit" class="visually-hidden">
          Search
        </button>
      </form>
      {q !== '' && (
        <Card title={found.length === 0 ? 'Nothing found' : 'Found'}>
          {found.length === 0 ? (
            <p class="empty">
              {view === null
                ? 'There is no application yet.'
                : `Nothing in ${isolate(view.application.name)} matches “${isolate(q)}”.`}
            </p>
          ) : (
            <ul class="found">
              {found.map(({ kind, label, detail, href }) => (
                <li>
                  <a href={href}>
                    <Name name={label} />
                    {detail && <small title={detail}>{detail}</small>}
                    <span class="badge">{kind}</span>
                  </a>
                </li>
              ))}
            </ul>
          )}
        </Card>
      )}
    </>,
  );
}

export const search: PageRecord = {
  path: '/search',
  title: 'Search',
  routes: pageRoutes().get('/', searchPage),
};
