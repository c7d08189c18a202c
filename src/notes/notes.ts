import { and, asc, eq, gte, lte } from 'drizzle-orm';
import * as z from 'zod';
import { auditStatement, type Caller } from '#audit';
import { type Database, notes } from '#db';
import {
  AppError,
  afterKeyCursor,
  dayText,
  keyCursor,
  listQuery,
  pageOf,
  requiredName,
  requiredText,
  toKeyCursor,
} from '#http';
import { toApi } from '#lib/encoding/camel-case';
import { newId } from '#lib/ids';
import { iso } from '#lib/time';
import { type ApplicationRow, nameOf } from '#teams';
import { Note, type NotesListed } from './answers.ts';

const MAX_NOTES = 2_000;
const MAX_TEXT = 200;

const fields = { day: dayText(), text: requiredName(MAX_TEXT) };
export const NewNote = z.object({ application_id: requiredText(128), ...fields });
export const NoteChanges = z
  .object(fields)
  .partial()
  .refine(({ day, text }) => day !== undefined || text !== undefined, 'needs day or text');

export const NotesQuery = listQuery.extend({
  application_id: requiredText(128),
  from: dayText().optional(),
  to: dayText().optional(),
  cursor: keyCursor(),
});

type NoteRow = typeof notes.$inferSelect;

const shown = (row: NoteRow): Note =>
  toApi(Note, { ...row, createdAt: iso(row.createdAt), updatedAt: iso(row.updatedAt) });

/** An application's notes, the earliest day first. */
export async function listNotes(
  db: Database,
  { id, teamId }: Pick<ApplicationRow, 'id' | 'teamId'>,
  { from, to, limit, cursor }: Omit<z.infer<typeof NotesQuery>, 'application_id'>,
): Promise<NotesListed> {
  const read = (rows: number) =>
    db
      .select()
      .from(notes)
      .where(
        and(
          eq(notes.teamId, teamId),
          eq(notes.applicationId, id),
          from === undefined ? undefined : gte(notes.day, from),
          to === undefined ? undefined : lte(notes.day, to),
          afterKeyCursor(cursor, [notes.day, notes.id]),
        ),
      )
      .orderBy(asc(notes.day), asc(notes.id))
      .limit(rows);
  const page = await pageOf(limit, read, ({ day, id }) => toKeyCursor([day, id]));
  return { ...page, data: page.data.map(shown) };
}

/** Adds a note. Throws `conflict` beyond 2,000 notes of an application. */
export async function addNote(
  caller: Caller,
  application: ApplicationRow,
  { day, text }: Pick<z.infer<typeof NewNote>, 'day' | 'text'>,
): Promise<Note> {
  const { db, team, actor, now } = caller;
  if ((await db.$count(notes, eq(notes.applicationId, application.id))) >= MAX_NOTES) {
    throw new AppError('conflict', `An application has at most ${MAX_NOTES} notes`);
  }
  const row = {
    ...{ teamId: team.id, id: newId('not'), applicationId: application.id, day, text },
    ...{ createdBy: actor, createdAt: now, updatedAt: now },
  };
  await db.batch([
    db.insert(notes).values(row),
    auditStatement(caller, 'note.created', `${day}: ${text}, in ${nameOf(application)}`),
  ]);
  return shown(row);
}

/** Throws `not_found` for a note that the team does not have. */
async function findNote({ db, team }: Caller, id: string): Promise<NoteRow> {
  const [row] = await db
    .select()
    .from(notes)
    .where(and(eq(notes.teamId, team.id), eq(notes.id, id)));
  if (!row) throw new AppError('not_found', 'Note not found');
  return row;
}

/** Changes a note's day or text. Throws `not_found`. Idempotent. */
export async function changeNote(
  caller: Caller,
  id: string,
  changes: z.infer<typeof NoteChanges>,
): Promise<Note> {
  const { db, team, now } = caller;
  const row = await findNote(caller, id);
  const { day = row.day, text = row.text } = changes;
  await db.batch([
    db
      .update(notes)
      .set({ day, text, updatedAt: now })
      .where(and(eq(notes.teamId, team.id), eq(notes.id, id))),
    auditStatement(caller, 'note.changed', `${row.day}: ${row.text}, now ${day}: ${text}`),
  ]);
  return shown({ ...row, day, text, updatedAt: now });
}

/** Removes a note, and returns what it was. Throws `not_found`. */
export async function removeNote(caller: Caller, id: string): Promise<Note> {
  const { db, team } = caller;
  const row = await findNote(caller, id);
  await db.batch([
    db.delete(notes).where(and(eq(notes.teamId, team.id), eq(notes.id, id))),
    auditStatement(caller, 'note.removed', `${row.day}: ${row.text}`),
  ]);
  return shown(row);
}
