import * as z from 'zod';
import { day, list, time } from '#http/answers';

export const Note = z.object({
  id: z.string(),
  application_id: z.string(),
  day: day().meta({ description: "In the application's time zone." }),
  text: z.string(),
  created_by: z.string(),
  created_at: time(),
  updated_at: time(),
});
export type Note = z.input<typeof Note>;

export const NotesListed = list(Note);
export type NotesListed = z.input<typeof NotesListed>;
