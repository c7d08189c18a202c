import { apiCaller } from '#audit';
import { database } from '#db';
import { type Endpoint, EXAMPLE, endpoint, missing } from '#http';
import { ownApplication } from '#teams';
import { Note, NotesListed } from './answers.ts';
import { addNote, changeNote, listNotes, NewNote, NoteChanges, NotesQuery, removeNote } from './notes.ts';

const shared = { credential: 'teamToken', tag: 'Notes' } as const;
const one = {
  path: '/v1/notes/{note_id}',
  params: { note_id: EXAMPLE.note },
  errors: missing('Note'),
} as const;

export const noteEndpoints: Endpoint[] = [
  endpoint({
    ...shared,
    method: 'get',
    path: '/v1/notes',
    summary: 'List notes',
    description: 'What happened on a day, such as a release or a new price. The earliest day comes first.',
    query: {
      schema: NotesQuery,
      example: {
        application_id: EXAMPLE.application,
        from: EXAMPLE.from,
        to: EXAMPLE.to,
        limit: 50,
        cursor: '',
      },
    },
    answer: { description: 'A page of notes.', schema: NotesListed },
    errors: missing('Application'),
    async handle(c, { query }) {
      const application = await ownApplication(c, query.application_id);
      return listNotes(database(c.env.DB), application, query);
    },
  }),
  endpoint({
    ...shared,
    method: 'post',
    path: '/v1/notes',
    summary: 'Add a note',
    description: "Charts and tables over time show it on its day, in the application's time zone.",
    body: {
      schema: NewNote,
      examples: {
        release: { application_id: EXAMPLE.application, day: '2026-03-02', text: 'Version 2.3 released' },
      },
    },
    answer: { status: 201, description: 'The note.', schema: Note },
    errors: { ...missing('Application'), 409: 'The application has 2,000 notes already.' },
    async handle(c, { body: { application_id, ...note } }) {
      const application = await ownApplication(c, application_id);
      return addNote(apiCaller(c), application, note);
    },
  }),
  endpoint({
    ...{ ...shared, ...one },
    method: 'patch',
    summary: 'Change a note',
    description: 'Fields that are left out keep their values.',
    body: { schema: NoteChanges, examples: { text: { text: 'Version 2.3.1 released' } } },
    answer: { description: 'The changed note.', schema: Note },
    handle: (c, { params, body }) => changeNote(apiCaller(c), params.note_id, body),
  }),
  endpoint({
    ...{ ...shared, ...one },
    method: 'delete',
    summary: 'Delete a note',
    answer: { description: 'The deleted note.', schema: Note },
    handle: (c, { params }) => removeNote(apiCaller(c), params.note_id),
  }),
];
