import { Hono } from 'hono';
import { apiCaller } from '#audit';
import { database } from '#db';
import {
  type AppEnv,
  jsonBody,
  limitBody,
  MAX_JSON_BODY_BYTES,
  noQuery,
  queryString,
  requireTeamToken,
} from '#http';
import { getApplication } from '#teams';
import type { Note, NotesListed } from './answers.ts';
import { addNote, changeNote, listNotes, NewNote, NoteChanges, NotesQuery, removeNote } from './notes.ts';

export const noteRoutes = new Hono<AppEnv>()
  .get('/v1/notes', requireTeamToken, queryString(NotesQuery), async (c) => {
    const query = c.req.valid('query');
    const db = database(c.env.DB);
    const application = await getApplication(db, c.get('team').id, query.application_id);
    return c.json<NotesListed>(await listNotes(db, application, query));
  })
  .post(
    '/v1/notes',
    limitBody(MAX_JSON_BODY_BYTES),
    requireTeamToken,
    noQuery,
    ...jsonBody(NewNote),
    async (c) => {
      const caller = apiCaller(c);
      const { application_id, ...note } = c.req.valid('json');
      const application = await getApplication(caller.db, caller.team.id, application_id);
      return c.json<Note>(await addNote(caller, application, note), 201);
    },
  )
  .patch(
    '/v1/notes/:note_id',
    limitBody(MAX_JSON_BODY_BYTES),
    requireTeamToken,
    noQuery,
    ...jsonBody(NoteChanges),
    async (c) => c.json<Note>(await changeNote(apiCaller(c), c.req.param('note_id'), c.req.valid('json'))),
  )
  .delete('/v1/notes/:note_id', requireTeamToken, noQuery, async (c) =>
    c.json<Note>(await removeNote(apiCaller(c), c.req.param('note_id'))),
  );
