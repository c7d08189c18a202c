import { html } from 'hono/html';
import type { Child, PropsWithChildren } from 'hono/jsx';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { iso } from '#lib/time';
import { doneText } from './done.ts';
import { isGuest } from './guard.ts';
import { Icon } from './icons.tsx';
import { ApplicationSwitch, type Navigation, NavigationList, readNavigation } from './navigation.tsx';
import { type DashboardContext, isSavable, type PageRecord } from './page-record.ts';
import { Notice } from './parts.tsx';
import { queryToKeep, type View, viewQuery } from './view.ts';

/** Titles with more characters are set in smaller type. */
const LONG_TITLE = 60;

/** The product name on every page. */
const PRODUCT = 'Attribution';

const STYLES = ['tokens', 'shell', 'parts', 'tables', 'chart', 'pages'];

const Document = ({ title, children }: PropsWithChildren<{ title: string }>) => (
  <html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <title>{`${title} · ${PRODUCT}`}</title>
      <link rel="icon" href="/icon.svg" type="image/svg+xml" />
      {STYLES.map((name) => (
        <link rel="stylesheet" href={`/${name}.css`} />
      ))}
      <script src="/dashboard.js" type="module"></script>
      <script src="/bar.js" type="module"></script>
      <script src="/shell.js" type="module"></script>
    </head>
    {children}
  </html>
);

/** Search, sharing and what the page itself offers, beside its title. */
const Tools = ({
  c,
  view,
  columns,
  children,
}: PropsWithChildren<{ c: DashboardContext; view: View | null; columns: readonly string[] }>) => {
  const keep = view ? viewToKeep(c, columns) : null;
  return (
    <div class="tools">
      {!isGuest(c.get('person')) && (
        <a class="button quiet" href={`/search${viewQuery(view)}`} data-search>
          <Icon name="search" />
          <span>Search</span>
          <kbd>/</kbd>
        </a>
      )}
      {keep && (
        <a class="button quiet keep" href={`/views?for=${encodeURIComponent(keep)}`}>
          <Icon name="share" />
          <span>Save or share</span>
        </a>
      )}
      {children}
    </div>
  );
};

/** The title and path of a request's page. An address that no page has is not in the navigation. */
const recordOf = (c: DashboardContext): Pick<PageRecord, 'title' | 'path'> =>
  c.get('page') ?? { title: PRODUCT, path: '' };

/** The URL of the current report with the columns that it shows, for saving or sharing it; null for any other page. */
function viewToKeep(c: DashboardContext, columns: readonly string[]): string | null {
  const { pathname } = new URL(c.req.url);
  return isSavable(c.get('pages'), pathname) ? pathname + queryToKeep(c, columns) : null;
}

/**
 * Renders a page of the dashboard, with the title of its record if left out, and the message of a preceding redirect. `current` is the path of the link that stands for it in the
 * navigation, if not its own, `within` what contains the thing that the title names, and `tools` the buttons beside the title.
 */
export async function renderPage(
  c: DashboardContext,
  page: {
    title?: string;
    within?: Child;
    current?: string;
    view?: View | null;
    filters?: Child;
    tools?: Child;
    /** Links to the pages that the content is one of. */
    tabs?: Child;
    /** The columns that were chosen for the page's table. */
    columns?: readonly string[];
    status?: ContentfulStatusCode;
    /** If it was read with the page's own figures. */
    navigation?: Navigation;
  },
  content: Child,
): Promise<Response> {
  const { view = null, title = recordOf(c).title, current = recordOf(c).path, columns = [] } = page;
  const done = doneText(c);
  // As in CSV files, for whoever reads the page by machine.
  if (view?.countedThrough) c.header('X-Counted-Through', iso(view.countedThrough));
  if (view?.uncounted) c.header('X-Uncounted', String(view.uncounted));
  const shown = page.navigation ?? (await readNavigation(c, view));
  return send(
    c,
    <Document title={`${title} · ${c.get('person').team.name}`}>
      <body class={shown.isNarrow ? 'with-nav narrow-nav' : 'with-nav'}>
        <a class="skip" href="#main">
          Skip to the page
        </a>
        <header class="side">
          <ApplicationSwitch c={c} current={current} view={view} shown={shown} />
          <details class="menu" data-menu data-pop>
            <summary>
              <Icon name="menu" />
              <span class="visually-hidden">Menu</span>
            </summary>
            <NavigationList c={c} current={current} view={view} shown={shown} />
          </details>
        </header>
        <main id="main" tabindex={-1}>
          <header class="page-head">
            <div class="page-title">
              {page.within && <p class="muted">{page.within}</p>}
              <h1 class={title.length > LONG_TITLE ? 'long' : ''}>
                <bdi>{title}</bdi>
              </h1>
            </div>
            <Tools c={c} view={view} columns={columns}>
              {page.tools}
            </Tools>
            {page.filters}
          </header>
          {page.tabs}
          {done && <Notice kind="good">{done}</Notice>}
          {content}
        </main>
      </body>
    </Document>,
    page.status,
  );
}

/** Renders a page for someone who is not signed in: a single card. */
export function renderPlainPage(
  c: DashboardContext,
  page: { title?: string; status?: ContentfulStatusCode; isWide?: boolean },
  content: Child,
): Response | Promise<Response> {
  const { title = recordOf(c).title } = page;
  return send(
    c,
    <Document title={title}>
      <body class={page.isWide ? 'shared' : 'plain'}>
        <main>
          <p class="product">
            <svg class="logo" viewBox="0 0 28 28" aria-hidden="true">
              <path d="M8 19l6-12 6 12M10.5 15h7" />
            </svg>
            {PRODUCT}
          </p>
          <h1>{title}</h1>
          {content}
          <p class="hint docs-link">
            <a href="/docs">Documentation</a>
          </p>
        </main>
      </body>
    </Document>,
    page.status,
  );
}

/** Without a `status`, with the one that was set, such as by `answerAgain`. */
function send(c: DashboardContext, document: Child, status?: ContentfulStatusCode) {
  return c.html(html`<!doctype html>${document}`, status);
}
