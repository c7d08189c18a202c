import { type SQL, sql } from 'drizzle-orm';
import { clicks, costs, creatives, type Database, invitations, members, rollupDaily } from '#db';
import { atLeast, type Person } from '#members';
import type { ApplicationRow } from '#teams';
import { Card } from './parts.tsx';
import { type View, viewQuery } from './view.ts';

const STEPS = ['event', 'store', 'creative', 'click', 'costs', 'invite'] as const;
type Step = (typeof STEPS)[number];
/** `newestCreative` is the id of the application's newest creative, whose link can be tested. */
export type Progress = Record<Step, boolean> & { newestCreative: string | null };

/** Which setup steps are done, judging by the data. `hasEvent`: whether an event has arrived. */
export async function readProgress(
  db: Database,
  application: ApplicationRow,
  hasEvent: boolean,
): Promise<Progress> {
  const { id, teamId } = application;
  const some = (from: SQL) => sql<number>`EXISTS (SELECT 1 FROM ${from})`;
  const [row] = await db
    .select({
      newestCreative: sql<
        string | null
      >`(SELECT max(${creatives.id}) FROM ${creatives} WHERE ${creatives.applicationId} = ${id})`.as(
        'newest_creative',
      ),
      // A click that was pruned is still counted in the figures.
      click: sql<number>`${some(sql`${clicks} WHERE ${clicks.applicationId} = ${id}`)}
        OR ${some(sql`${rollupDaily} WHERE ${rollupDaily.applicationId} = ${id} AND ${rollupDaily.clicks} > 0`)}`.as(
        'click',
      ),
      costs: some(sql`${costs} WHERE ${costs.applicationId} = ${id}`).as('costs'),
      invite: sql<number>`${some(sql`${invitations} WHERE ${invitations.teamId} = ${teamId}`)}
        OR (SELECT count(*) FROM ${members} WHERE ${members.teamId} = ${teamId}) > 1`.as('invite'),
    })
    .from(sql`(SELECT 1)`);
  return {
    event: hasEvent,
    store: application.androidStoreUrl !== null || application.iosStoreUrl !== null,
    creative: typeof row?.newestCreative === 'string',
    newestCreative: row?.newestCreative ?? null,
    click: row?.click === 1,
    costs: row?.costs === 1,
    invite: row?.invite === 1,
  };
}

const describe = (
  { application }: View,
  query: string,
  { newestCreative }: Progress,
): Record<Step, { label: string; why: string; href: string }> => ({
  event: {
    label: 'Send the first event',
    why: 'Your backend fetches a token for a device, then sends what happens on it.',
    href: `/get-started${query}`,
  },
  store: {
    label: 'Add the store URL',
    why: 'Tracking links take people there.',
    href: `/settings/applications/${application.id}#stores`,
  },
  creative: {
    label: 'Create a creative',
    why: 'You get a tracking link to use as the destination of your ad.',
    href: `/creatives${query}#new`,
  },
  click: {
    label: 'Test its link',
    why: 'Open it, watch the click arrive, then send an install that it led to.',
    href: newestCreative === null ? `/creatives${query}` : `/creatives/${newestCreative}${query}#test`,
  },
  costs: {
    label: 'Upload costs',
    why: 'With them you see CPI and ROAS.',
    href: `/costs${query}#upload`,
  },
  invite: {
    label: 'Invite your team',
    why: 'Colleagues can look without changing anything.',
    href: '/settings/members',
  },
});

/** The setup steps, for people who may do them, until all are done. */
export const Checklist = ({ view, progress, person }: { view: View; progress: Progress; person: Person }) => {
  const done = STEPS.filter((step) => progress[step]).length;
  if (done === STEPS.length || !atLeast(person.role, 'admin')) return null;
  const steps = describe(view, viewQuery(view), progress);
  return (
    <Card title="Set up" aside={<span class="muted">{`${done} of ${STEPS.length} done`}</span>}>
      <ol class="checklist">
        {STEPS.map((step) => (
          <li class={progress[step] ? 'done' : ''}>
            <span class="mark" aria-hidden="true">
              {progress[step] ? '✓' : '○'}
            </span>
            <span>
              {progress[step] ? (
                <>
                  {steps[step].label}
                  <span class="visually-hidden"> (done)</span>
                </>
              ) : (
                <>
                  <a href={steps[step].href}>{steps[step].label}</a>
                  <span class="muted"> {steps[step].why}</span>
                </>
              )}
            </span>
          </li>
        ))}
      </ol>
    </Card>
  );
};
