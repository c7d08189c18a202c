export { addNote, changeNote, listNotes, NewNote, NoteChanges, removeNote } from './notes.ts';
