import type { Child } from 'hono/jsx';
import { atLeast } from '#members';
import { doneText } from '../forms/form.ts';
import { renderPage } from './page.tsx';
import type { DashboardContext } from './page-record.ts';
import { Notice } from './parts.tsx';

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

/** Renders a settings page, with the message of a preceding redirect. `tools` are the buttons beside its title. */
export function renderSettings(
  c: DashboardContext,
  page: { title?: string; status?: 200 | 400; tools?: Child },
  content: Child,
) {
  const done = doneText(c);
  return renderPage(
    c,
    { ...page, current: '/settings/applications' },
    <>
      <Tabs c={c} />
      {done && <Notice kind="good">{done}</Notice>}
      {content}
    </>,
  );
}
