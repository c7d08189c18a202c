import { database } from '#db';
import { isolate } from '#lib/input/isolate';
import { addNote, changeNote, listNotes, NewNote, NoteChanges, removeNote } from '#notes';
import { PostForm } from '../../forms/fields.tsx';
import { again, requireForm, type Submitted } from '../../forms/form.ts';
import { readActorNames } from '../../shell/actors.ts';
import { dayText } from '../../shell/dates.ts';
import { changing, redirectDone } from '../../shell/done.ts';
import { admin, callerOf, isAdmin } from '../../shell/guard.ts';
import { renderPage } from '../../shell/page.tsx';
import { type DashboardContext, type PageRecord, pageRoutes } from '../../shell/page-record.ts';
import { Action, Card, FormMenu } from '../../shell/parts.tsx';
import { requireView, viewQuery } from '../../shell/view.ts';
import { NextPart, Table } from '../../tables/table.tsx';

const SHOWN = 200;

/** What happened on days, which charts and tables over time show: a list and a form. */
async function notesPage(c: DashboardContext, submitted: Submitted = {}) {
  const view = await requireView(c);
  const { faults = [] } = submitted;
  const cursor = c.req.query('cursor') ?? '';
  const db = database(c.env.DB);
  const [page, actorName] = await Promise.all([
    listNotes(db, view.application, { limit: SHOWN, cursor }),
    readActorNames(db, c.get('person').team.id),
  ]);
  const mayChange = isAdmin(c);
  return renderPage(
    c,
    {
      view,
      tools: mayChange && (
        <FormMenu label="New note" id="new" open={faults.length > 0}>
          <PostForm
            to={`/notes${viewQuery(view)}`}
            button="Add"
            fields={[
              { label: 'Day', name: 'day', type: 'date', value: view.today, required: true },
              { label: 'Note', name: 'text', maxlength: 200, required: true },
            ]}
            {...submitted}
          />
        </FormMenu>
      ),
    },
    <Card title="Notes">
      <Table
        caption={`Notes, days in ${view.application.timezone}`}
        rows={page.data}
        empty="No notes yet. A release or a new price explains a change in a chart."
        columns={[
          { label: 'Day', cell: ({ day }) => dayText(day, view.today) },
          {
            label: 'Note',
            cell: ({ id, day, text }) =>
              mayChange ? (
                <form method="post" action={`/notes/${id}${viewQuery(view)}`} class="row inline">
                  <input type="hidden" name="day" value={day} />
                  <input
                    name="text"
                    value={text}
                    maxlength={200}
                    aria-label={`Note of ${dayText(day, view.today)}`}
                    required
                  />
                  <button type="submit" class="quiet">
                    Save
                  </button>
                </form>
              ) : (
                text
              ),
          },
          { label: 'By', wideOnly: true, cell: ({ created_by }) => actorName(created_by) },
        ]}
        actions={
          mayChange &&
          (({ id, text }) => (
            <Action
              to={`/notes/${id}/remove${viewQuery(view)}`}
              label="Remove"
              kind="quiet"
              confirm={`Remove “${isolate(text)}”?`}
            />
          ))
        }
      />
      <NextPart
        cursor={page.next_cursor}
        to={(cursor) => `/notes${viewQuery(view, { cursor })}`}
        label="Later"
      />
    </Card>,
  );
}

const save = changing('/notes', 'saved', async (caller, id, c) =>
  changeNote(caller, id, await requireForm(c, NoteChanges)),
);

const routes = pageRoutes()
  .get('/', (c) => notesPage(c))
  .post('/', admin, again(notesPage), async (c) => {
    const view = await requireView(c);
    const data = await requireForm(c, NewNote.omit({ application_id: true }));
    await addNote(callerOf(c), view.application, data);
    return redirectDone(c, `/notes${viewQuery(view)}`, 'saved');
  })
  .post('/:id', admin, save)
  .post('/:id/remove', admin, changing('/notes', 'deleted', removeNote));

export const notes: PageRecord = {
  path: '/notes',
  title: 'Notes',
  links: [{ group: 'Operate', icon: 'M3 2h10v12H3zM6 6h4M6 9h4' }],
  routes,
};
