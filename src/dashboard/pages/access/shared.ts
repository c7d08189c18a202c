import { database } from '#db';
import { AppError, unavailable } from '#http';
import type { Person } from '#members';
import { findApplication } from '#teams';
import { findShareLink } from '#views';
import { timeText } from '../../shell/dates.ts';
import { admitGuest } from '../../shell/guard.ts';
import { type DashboardContext, type PageRecord, pageRoutes } from '../../shell/page-record.ts';
import { openSecret } from './sign-in.tsx';

/** Elements that lead elsewhere or change something. A shared view does not show them. */
const REMOVED = [
  'header.side',
  '.skip',
  '.tools',
  '.bar-fields',
  '.chip > [aria-hidden]',
  '.chips a:not(.chip)',
  '.also',
  '.seg',
  '.card-head a',
  '.asides a',
  '.notice a',
  '.pages a',
  'a.button',
  'details.pop',
  'nav',
  'form',
  'button',
  'a[href*="format=csv"]',
];

const renamedTo = (tagName: string): HTMLRewriterElementContentHandlers => ({
  element(found) {
    found.tagName = tagName;
  },
});

/** The page for a guest: figures, tables and charts, with links as plain text. */
function readOnly(page: Response, notice: string): Response {
  const rewriter = new HTMLRewriter();
  for (const selector of REMOVED) rewriter.on(selector, { element: (found) => void found.remove() });
  return (
    rewriter
      // What the view shows: application, period and number of filters.
      .on('.view-bar', renamedTo('div'))
      .on('.view-bar > summary', renamedTo('p'))
      .on('a', { element: (link) => void link.removeAndKeepContent() })
      .on('body', { element: (body) => void body.setAttribute('class', 'shared') })
      .on('main', {
        element: (main) => void main.append(`<p class="muted">${notice}</p>`, { html: true }),
      })
      .transform(page)
  );
}

/**
 * Serves the single view of a share link, rendered for a guest who, for this request only, is a viewer of the team. The URL selects nothing: page
 * and filters are those with which the link was created.
 */
async function sharedView(c: DashboardContext) {
  const why = 'This link no longer works: it has ended or was revoked.';
  const { team, path, query, expiresAt } = await openSecret(c, findShareLink, why);
  const guest: Person = { userId: '', name: 'Guest', email: '', role: 'viewer', team };
  const request = new Request(`${new URL(c.req.url).origin}${path}?${query}`, {
    headers: { 'X-Request-Id': c.get('requestId') },
  });
  admitGuest(request, guest);
  const page = await c.get('openPage')(request);
  if (page.status === 404) throw new AppError('not_found', 'The report of this link no longer exists');
  if (!page.ok) throw unavailable();
  const application = await findApplication(
    database(c.env.DB),
    team.id,
    new URLSearchParams(query).get('app') ?? '',
  );
  const zone = application?.timezone ?? 'UTC';
  const until = timeText(expiresAt, zone);
  const shown = readOnly(page, `Read-only view. This link works until ${until} (${zone}).`);
  shown.headers.set('X-Robots-Tag', 'noindex, nofollow');
  return shown;
}

export const shared: PageRecord = {
  path: '/shared',
  title: 'Shared view',
  opens: null,
  routes: pageRoutes().get('/:secret', sharedView),
};
