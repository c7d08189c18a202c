import { getCookie } from 'hono/cookie';
import { listAlerts } from '#alerts';
import { database } from '#db';
import type { Person } from '#members';
import type { ApplicationRow } from '#teams';
import { listViews, viewAddress } from '#views';
import { keepChoice } from './cookies.ts';
import { isGuest } from './guard.ts';
import { Drawing, Icon } from './icons.tsx';
import { type DashboardContext, NAVIGATION_GROUPS, type PageRecord } from './page-record.ts';
import { APPLICATION_COOKIE, applicationsOf, lastApplication, type View, viewQuery } from './view.ts';
import { ROLE_NAMES } from './words.ts';

type NavigationEntry = { path: string; label: string; icon: string; keepsView: boolean };

/** The links of all pages in groups. */
export const groupsOf = (pages: readonly PageRecord[]): { label: string; entries: NavigationEntry[] }[] =>
  NAVIGATION_GROUPS.map((group) => ({
    label: group,
    entries: pages.flatMap(({ path, title, links = [] }) =>
      links
        .filter((link) => link.group === group)
        .map(({ label = title, icon, keepsView = true, query = '' }) => ({
          path: path + query,
          label,
          icon,
          keepsView,
        })),
    ),
  }));

/** The path of the link for the page at `path`: of several, the one with most of the address's parameters. */
function currentLink(c: DashboardContext, path: string): string {
  const asked = new URL(c.req.url).searchParams;
  const page = c.get('pages').find((record) => record.path === path);
  const matching = [...(page?.links ?? [])]
    .map(({ query = '' }) => ({ query, parameters: [...new URLSearchParams(query)] }))
    .filter(({ parameters }) => parameters.every(([name, value]) => asked.get(name) === value))
    .sort((left, right) => right.parameters.length - left.parameters.length);
  return path + (matching[0]?.query ?? '');
}

/** Views in the navigation; the page of saved views has all. */
const MAX_VIEWS = 5;
const NARROW_COOKIE = 'dashboard.navigation';

/** What the navigation shows besides its links. */
export type Navigation = {
  applications: readonly ApplicationRow[];
  application: ApplicationRow | null;
  views: readonly { name: string; address: string }[];
  firing: number;
  isNarrow: boolean;
};

/** Reads what the navigation shows, and remembers the view's application. */
export async function readNavigation(c: DashboardContext, view: View | null): Promise<Navigation> {
  const person = c.get('person');
  if (isGuest(person)) return { applications: [], application: null, views: [], firing: 0, isNarrow: false };
  const db = database(c.env.DB);
  const applications = view?.applications ?? (await applicationsOf(c));
  const application = view?.application ?? lastApplication(c, applications) ?? null;
  const [views, alerts] = await Promise.all([
    listViews(db, person.team.id),
    application ? listAlerts(db, application.id) : [],
  ]);
  if (view && view.application.id !== getCookie(c, APPLICATION_COOKIE)) {
    keepChoice(c, APPLICATION_COOKIE, view.application.id);
  }
  return {
    applications,
    application,
    views: views.slice(0, MAX_VIEWS).map((saved) => ({ name: saved.name, address: viewAddress(saved) })),
    firing: alerts.filter(({ firingSince }) => firingSince !== null).length,
    isNarrow: getCookie(c, NARROW_COOKIE) === 'narrow',
  };
}

/** Where the switch leads: the same report of another application, without what belongs to this one. */
function addressOf(c: DashboardContext, current: string, view: View | null, id: string): string {
  const path = current.split('?')[0] || '/';
  const url = new URL(c.req.url);
  if (!view) return `/?app=${id}`;
  if (url.pathname !== path) return path + viewQuery(view, { app: id, of: view.application.id });
  for (const name of ['page', 'cursor', 'done']) url.searchParams.delete(name);
  url.searchParams.set('app', id);
  url.searchParams.set('of', view.application.id);
  return `${path}?${url.searchParams}`;
}

const ApplicationNames = ({ name, timezone, currency }: ApplicationRow) => (
  <span class="names">
    <b>
      <bdi>{name}</bdi>
    </b>
    <small>{`${timezone} · ${currency.toUpperCase()}`}</small>
  </span>
);

/** `current`: the path of the page, or of the one that stands for it. */
type NavigationProps = { c: DashboardContext; current: string; view: View | null; shown: Navigation };

/** The product without an application, otherwise the application with a menu of the others. */
export const ApplicationSwitch = ({
  c,
  current,
  view,
  shown: { applications, application },
}: NavigationProps) => (
  <details class="switch" data-pop>
    <summary>
      <span class="logo" aria-hidden="true">
        {[...(application?.name ?? 'A')][0]?.toUpperCase()}
      </span>
      {application ? (
        <ApplicationNames {...application} />
      ) : (
        <span class="names">
          <b>{c.get('person').team.name}</b>
          <small>No application yet</small>
        </span>
      )}
      <span class="visually-hidden">Switch application</span>
      <Icon name="chevron" className="i chev" />
    </summary>
    <ul class="sheet">
      {applications.map((one) => (
        <li>
          <a
            href={addressOf(c, current, view, one.id)}
            {...(one.id === application?.id ? { 'aria-current': 'true' as const } : {})}
          >
            <ApplicationNames {...one} />
          </a>
        </li>
      ))}
      <li>
        <a href="/settings/applications">All applications</a>
      </li>
    </ul>
  </details>
);

const initialsOf = (name: string): string =>
  name
    .split(/\s+/)
    .slice(0, 2)
    .map((word) => [...word][0] ?? '')
    .join('')
    .toUpperCase();

const Who = ({ person }: { person: Person }) => (
  <details class="who" data-pop>
    <summary>
      <span class="avatar" aria-hidden="true">
        {initialsOf(person.name)}
      </span>
      <span class="names">
        <b>{person.name}</b>
        <span class="muted">
          {person.team.name} · {ROLE_NAMES[person.role]}
        </span>
      </span>
      <Icon name="chevron" className="i chev" />
    </summary>
    <ul class="sheet">
      <li>
        <a href="/settings/account">Your account</a>
      </li>
      <li>
        <a href="/settings/members">Team</a>
      </li>
      <li>
        <a href="/docs">Documentation</a>
      </li>
      <li>
        <form method="post" action="/logout">
          <button type="submit">Sign out</button>
        </form>
      </li>
    </ul>
  </details>
);

export const withQuery = (path: string, query: string) =>
  path.includes('?') && query !== '' ? `${path}&${query.slice(1)}` : path + query;

/** The pages in groups, saved views, and the person. */
export const NavigationList = ({ c, current, view, shown }: NavigationProps) => {
  const link = currentLink(c, current);
  return (
    <nav class="side-nav" aria-label="Main">
      {groupsOf(c.get('pages')).map(({ label, entries }) => (
        <>
          {label !== '' && <h2>{label}</h2>}
          <ul>
            {entries.map((item) => (
              <li>
                <a
                  href={withQuery(item.path, item.keepsView ? viewQuery(view) : '')}
                  {...(item.path === link ? { 'aria-current': 'page' as const } : {})}
                >
                  <Drawing path={item.icon} />
                  <span class="label">{item.label}</span>
                  {item.path === '/alerts' && shown.firing > 0 && (
                    <span class="count">
                      {shown.firing}
                      <span class="visually-hidden"> firing</span>
                    </span>
                  )}
                </a>
              </li>
            ))}
          </ul>
          {label === '' && shown.views.length > 0 && (
            <ul class="views">
              {shown.views.map(({ name, address }) => (
                <li>
                  <a href={address}>
                    <bdi>{name}</bdi>
                  </a>
                </li>
              ))}
            </ul>
          )}
        </>
      ))}
      <ul class="rail">
        <li>
          <button type="button" data-rail aria-pressed={shown.isNarrow ? 'true' : 'false'}>
            <Icon name="collapse" />
            <span class="label">Collapse</span>
          </button>
        </li>
      </ul>
      <Who person={c.get('person')} />
    </nav>
  );
};
