import { type SQL, sql } from 'drizzle-orm';
import { clicks, costs, creatives, type Database, invitations, members, rollupDaily } from '#db';
import { atLeast, type Person } from '#members';
import type { ApplicationRow } from '#teams';
import { Icon } from './icons.tsx';
import { Card } from './parts.tsx';
import { type View, viewQuery } from './view.ts';

const STEPS = ['event', 'store', 'creative', 'click', 'costs', 'invite'] as const;
type Step = (typeof STEPS)[number];
/** `newestCreative` is the id of the application's newest creative, whose link can be tested. */
export type ChecklistProgress = Record<Step, boolean> & { newestCreative: string | null };

/** Which setup steps are done, judging by the data. `hasEvent`: whether an event has arrived. */
export async function readProgress(
  db: Database,
  application: ApplicationRow,
  hasEvent: boolean,
): Promise<ChecklistProgress> {
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
  { newestCreative }: ChecklistProgress,
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

const Steps = ({ view, progress }: { view: View; progress: ChecklistProgress }) => {
  const steps = describe(view, viewQuery(view), progress);
  return (
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
  );
};

/** The number of steps that are done, for people who may do them; null if all are done, or for others. */
function stepsDone(progress: ChecklistProgress, person: Person): number | null {
  const done = STEPS.filter((step) => progress[step]).length;
  return done === STEPS.length || !atLeast(person.role, 'admin') ? null : done;
}

type ChecklistProps = { view: View; progress: ChecklistProgress; person: Person };

/** The setup steps, until all are done. */
export const Checklist = ({ view, progress, person }: ChecklistProps) => {
  const done = stepsDone(progress, person);
  if (done === null) return null;
  return (
    <Card title="Set up" aside={<span class="muted">{`${done} of ${STEPS.length} done`}</span>}>
      <Steps view={view} progress={progress} />
    </Card>
  );
};

/** The same as one line with the next step, above the figures. A script renews it; closing it hides it from this browser. */
export const SetupBar = ({ view, progress, person, isClosed }: ChecklistProps & { isClosed: boolean }) => {
  const done = stepsDone(progress, person);
  const next = STEPS.find((step) => !progress[step]);
  if (done === null || !next || isClosed) return null;
  const { href, label } = describe(view, viewQuery(view), progress)[next];
  return (
    <section
      class="setup"
      id="setup"
      aria-label="Set up"
      data-live="10"
      data-from={`/get-started/steps${viewQuery(view)}`}
    >
      <progress max={STEPS.length} value={done} aria-label="Set-up steps done" />
      <span class="muted">{`${done} of ${STEPS.length} done`}</span>
      <span class="next">
        Next: <a href={href}>{label}</a>
      </span>
      <details class="pop" data-pop>
        <summary class="button quiet">All steps</summary>
        <div class="sheet right">
          <Steps view={view} progress={progress} />
        </div>
      </details>
      <form method="post" action={`/get-started/close${viewQuery(view)}`}>
        <button type="submit" class="close quiet" aria-label="Close the set-up steps" title="Close">
          <Icon name="close" />
        </button>
      </form>
    </section>
  );
};

export const SETUP_COOKIE = 'dashboard.setup';
