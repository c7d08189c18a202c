import * as z from 'zod';
import { database } from '#db';
import { idOf, pageOf, requiredText } from '#http';
import { count } from '#lib/format';
import { assignClaim, listAppStoreClaims, requireDeploymentOwner } from '#skan';
import type { FormField } from '../../forms/field.tsx';
import { PostForm } from '../../forms/fields.tsx';
import { requireForm, type Submitted } from '../../forms/form.ts';
import { redirectDone } from '../../shell/done.ts';
import { callerOf } from '../../shell/guard.ts';
import { renderPage } from '../../shell/page.tsx';
import type { DashboardContext } from '../../shell/page-record.ts';
import { Action, Card, FoldedCard } from '../../shell/parts.tsx';
import { NextPart, Table } from '../../tables/table.tsx';

// The App Store apps of all teams, for the owner of the deployment.

const PATH = '/skan/apps';
const PAGE = 100;

const FIELDS: readonly FormField[] = [
  { label: 'App Store id', name: 'app_store_id', maxlength: 20, required: true },
  {
    label: 'Application id',
    name: 'application_id',
    maxlength: 64,
    hint: 'Of any team. The application that has the app loses its App Store URL, and its postbacks of the app move, too.',
    required: true,
  },
];

const Assignment = z.object({ app_store_id: requiredText(20), application_id: requiredText(64) });

export async function claimsPage(c: DashboardContext, { values = {}, faults = [] }: Submitted = {}) {
  const db = database(c.env.DB);
  await requireDeploymentOwner(db, c.get('person'));
  const cursor = c.req.query('after') ?? '';
  const { data, next_cursor } = await pageOf(
    PAGE,
    (limit) => listAppStoreClaims(db, { limit, cursor }),
    idOf,
  );
  return renderPage(
    c,
    { title: 'App Store apps', current: '/skan' },
    <>
      <Card
        title="App Store apps"
        info={
          <p>
            The apps of every team of this deployment. Postbacks that arrived before an application had the
            app wait until you confirm it, if there are several teams.
          </p>
        }
      >
        <Table
          caption="App Store apps"
          rows={data}
          empty="No application has an App Store URL yet."
          columns={[
            { label: 'App Store id', cell: (claim) => claim.appStoreId },
            { label: 'Application', wrap: true, cell: (claim) => `${claim.application} (${claim.id})` },
            { label: 'Team', wrap: true, cell: (claim) => claim.team },
            { label: 'Waiting postbacks', numeric: true, cell: (claim) => count(claim.waiting) },
          ]}
          actions={(claim) =>
            claim.isConfirmed ? (
              <span class="badge good">Confirmed</span>
            ) : (
              <Action
                to={PATH}
                label="Confirm"
                kind="quiet"
                fields={{ app_store_id: claim.appStoreId, application_id: claim.id }}
              />
            )
          }
        />
        <NextPart cursor={next_cursor} to={(id) => `${PATH}?${new URLSearchParams({ after: id })}`} />
      </Card>
      <FoldedCard title="Move an app to another application" id="move" open={faults.length > 0}>
        <PostForm to={PATH} button="Move" fields={FIELDS} values={values} faults={faults} />
      </FoldedCard>
    </>,
  );
}

export async function assignApp(c: DashboardContext): Promise<Response> {
  const { app_store_id, application_id } = await requireForm(c, Assignment);
  await assignClaim(callerOf(c), c.get('person'), app_store_id, application_id);
  return redirectDone(c, PATH, 'saved');
}
