import { html } from 'hono/html';
import type { Child, PropsWithChildren } from 'hono/jsx';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Person } from '#members';
import { VIEW_PAGES } from '#views';
import type { DashboardContext } from './guard.ts';
import { queryToKeep, type View, viewQuery } from './view.ts';
import { ROLE_NAMES } from './words.ts';

/** The navigation. Links with `view` keep the application, period and currency. */
const NAVIGATION = [
  { path: '/', label: 'Overview', view: true },
  { path: '/creatives', label: 'Creatives', view: true },
  { path: '/breakdown', label: 'Breakdown', view: true },
  { path: '/ads', label: 'Ads', view: true },
  { path: '/retention', label: 'Retention', view: true },
  { path: '/ltv', label: 'LTV and ROAS', view: true },
  { path: '/funnels', label: 'Funnels', view: true },
  { path: '/compare', label: 'Compare', view: true },
  { path: '/costs', label: 'Costs', view: true },
  { path: '/alerts', label: 'Alerts', view: true },
  { path: '/views', label: 'Saved views', view: false },
  { path: '/debugger', label: 'Debugger', view: true },
  { path: '/status', label: 'Health', view: true },
  { path: '/settings/applications', label: 'Settings', view: false },
] as const;

/** Titles with more characters are set in smaller type. */
const LONG_TITLE = 60;

/** The product name on every page. */
const PRODUCT = 'Attribution';

const Document = ({ title, children }: PropsWithChildren<{ title: string }>) => (
  <html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <title>{`${title} · ${PRODUCT}`}</title>
      <link rel="icon" href="/icon.svg" type="image/svg+xml" />
      <link rel="stylesheet" href="/dashboard.css" />
      <link rel="stylesheet" href="/bar.css" />
      <link rel="stylesheet" href="/pages.css" />
      <link rel="stylesheet" href="/chart.css" />
      <script src="/dashboard.js" type="module"></script>
      <script src="/bar.js" type="module"></script>
    </head>
    {children}
  </html>
);

const Navigation = ({ person, current, view }: { person: Person; current: string; view: View | null }) => (
  <nav aria-label="Main">
    <ul>
      {NAVIGATION.map((item) => (
        <li>
          <a
            href={item.path + (item.view ? viewQuery(view) : '')}
            {...(item.path === current ? { 'aria-current': 'page' as const } : {})}
          >
            {item.label}
          </a>
        </li>
      ))}
    </ul>
    <div class="who">
      <a href="/settings/account" title="Your account">
        {person.name}
      </a>
      <span class="muted">
        {person.team.name} · {ROLE_NAMES[person.role]}
      </span>
      <form method="post" action="/logout">
        <button type="submit" class="quiet">
          Sign out
        </button>
      </form>
    </div>
  </nav>
);

const Page = ({
  person,
  title,
  within,
  current,
  view,
  filters,
  keep,
  children,
}: PropsWithChildren<{
  person: Person;
  title: string;
  within: Child;
  current: string;
  view: View | null;
  filters?: Child;
  keep: string | null;
}>) => (
  <Document title={`${title} · ${person.team.name}`}>
    <body class="with-nav">
      <a class="skip" href="#main">
        Skip to the page
      </a>
      <header class="side">
        <details class="menu" data-menu>
          <summary>Menu</summary>
          <Navigation person={person} current={current} view={view} />
        </details>
        <div class="side-nav">
          <Navigation person={person} current={current} view={view} />
        </div>
      </header>
      <main id="main" tabindex={-1}>
        <header class="page-head">
          <div class="page-title">
            {within && <p class="muted">{within}</p>}
            <h1 class={title.length > LONG_TITLE ? 'long' : ''}>
              <bdi>{title}</bdi>
            </h1>
          </div>
          {keep && (
            <a class="keep" href={`/views?for=${encodeURIComponent(keep)}`}>
              Save or share
            </a>
          )}
          {filters}
        </header>
        {children}
      </main>
    </body>
  </Document>
);

/** The URL of the current report, for saving or sharing it; null for any other page. */
function viewToKeep(c: DashboardContext): string | null {
  const { pathname } = new URL(c.req.url);
  return Object.hasOwn(VIEW_PAGES, pathname) ? pathname + queryToKeep(c) : null;
}

/** Renders a page of the dashboard. `current` is the path of its navigation entry, `within` what contains the thing that the title names. */
export function renderPage(
  c: DashboardContext,
  page: {
    title: string;
    within?: Child;
    current: string;
    view?: View | null;
    filters?: Child;
    status?: ContentfulStatusCode;
  },
  content: Child,
): Response | Promise<Response> {
  return send(
    c,
    <Page
      person={c.get('person')}
      title={page.title}
      within={page.within}
      current={page.current}
      view={page.view ?? null}
      filters={page.filters}
      keep={page.view ? viewToKeep(c) : null}
    >
      {content}
    </Page>,
    page.status,
  );
}

/** Renders a page for someone who is not signed in: a single card. */
export function renderPlainPage(
  c: DashboardContext,
  page: { title: string; status?: ContentfulStatusCode },
  content: Child,
): Response | Promise<Response> {
  return send(
    c,
    <Document title={page.title}>
      <body class="plain">
        <main>
          <p class="product">{PRODUCT}</p>
          <h1>{page.title}</h1>
          {content}
        </main>
      </body>
    </Document>,
    page.status,
  );
}

function send(c: DashboardContext, document: Child, status: ContentfulStatusCode = 200) {
  return c.html(html`<!doctype html>${document}`, status);
}
