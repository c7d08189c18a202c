import { EXAMPLE, inPath, missing, type Operation, withExamples } from '#http/operations';
import { Note, NotesListed } from './answers.ts';
import { NewNote, NoteChanges, NotesQuery } from './notes.ts';

const shared = { credential: 'teamToken', tag: 'Notes' } as const;
const notFound = missing('Note');

export const operations: Operation[] = [
  {
    ...shared,
    method: 'get',
    path: '/v1/notes',
    summary: 'List notes',
    description: 'What happened on a day, such as a release or a new price. The earliest day comes first.',
    parameters: {
      query: withExamples(NotesQuery, {
        application_id: EXAMPLE.application,
        from: EXAMPLE.from,
        to: EXAMPLE.to,
        limit: 50,
        cursor: '',
      }),
    },
    answer: { status: 200, description: 'A page of notes.', schema: NotesListed },
    errors: missing('Application'),
  },
  {
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
  },
  {
    ...shared,
    method: 'patch',
    path: '/v1/notes/{note_id}',
    summary: 'Change a note',
    description: 'Fields that are left out keep their values.',
    parameters: inPath('note_id', EXAMPLE.note),
    body: { schema: NoteChanges, examples: { text: { text: 'Version 2.3.1 released' } } },
    answer: { status: 200, description: 'The changed note.', schema: Note },
    errors: notFound,
  },
  {
    ...shared,
    method: 'delete',
    path: '/v1/notes/{note_id}',
    summary: 'Delete a note',
    parameters: inPath('note_id', EXAMPLE.note),
    answer: { status: 200, description: 'The deleted note.', schema: Note },
    errors: notFound,
  },
];
