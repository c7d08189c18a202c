import type { Child } from 'hono/jsx';
import { atLeast } from '#members';
import { renderPage } from '../../shell/page.tsx';
import type { DashboardContext } from '../../shell/page-record.ts';

/** The pages of settings that the person may open. */
const Tabs = ({ c }: { c: DashboardContext }) => (
  <nav class="tabs" aria-label="Settings">
    {c
      .get('pages')
      .filter(
        ({ path, opens }) =>
          path.startsWith('/settings/') && atLeast(c.get('person').role, opens ?? 'viewer'),
      )
      .map(({ path, title }) => (
        <a href={path} {...(path === c.get('page')?.path ? { 'aria-current': 'page' as const } : {})}>
          {title}
        </a>
      ))}
  </nav>
);

/** Renders a settings page. `tools` are the buttons beside its title. */
export const renderSettings = (
  c: DashboardContext,
  page: { title?: string; status?: 200 | 400; tools?: Child },
  content: Child,
) => renderPage(c, { ...page, current: '/settings/applications', tabs: <Tabs c={c} /> }, content);
