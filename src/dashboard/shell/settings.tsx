import type { Child } from 'hono/jsx';
import { atLeast, type Person } from '#members';
import { doneText } from '../forms/form.ts';
import type { DashboardContext } from './guard.ts';
import { renderPage } from './page.tsx';
import { Notice } from './parts.tsx';

const SECTIONS = [
  { path: '/settings/applications', label: 'Applications', role: 'viewer' },
  { path: '/settings/tokens', label: 'Access tokens', role: 'admin' },
  { path: '/settings/members', label: 'Members', role: 'admin' },
  { path: '/settings/audit', label: 'Audit log', role: 'admin' },
  { path: '/settings/account', label: 'Your account', role: 'viewer' },
] as const;

type SettingsPath = (typeof SECTIONS)[number]['path'];

const Tabs = ({ person, current }: { person: Person; current: SettingsPath }) => (
  <nav class="tabs" aria-label="Settings">
    {SECTIONS.filter(({ role }) => atLeast(person.role, role)).map((section) => (
      <a href={section.path} {...(section.path === current ? { 'aria-current': 'page' as const } : {})}>
        {section.label}
      </a>
    ))}
  </nav>
);

/** Renders a settings page, with the message of a preceding redirect. */
export function renderSettings(
  c: DashboardContext,
  page: { title: string; section: SettingsPath; status?: 200 | 400 },
  content: Child,
) {
  const done = doneText(c);
  return renderPage(
    c,
    { title: page.title, current: '/settings/applications', status: page.status ?? 200 },
    <>
      <Tabs person={c.get('person')} current={page.section} />
      {done && <Notice kind="good">{done}</Notice>}
      {content}
    </>,
  );
}
