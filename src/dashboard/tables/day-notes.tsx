import { database } from '#db';
import { listNotes } from '#notes';
import { dayText } from '../shell/dates.ts';
import type { View } from '../shell/view.ts';
import { daysOfRow, type GroupRow } from './groups.tsx';

const MAX_NOTES = 100;

/** The notes on a view's days, the earliest day first. */
export async function readNotes(db: D1Database, { application, from, to }: View) {
  return (await listNotes(database(db), application, { from, to, limit: MAX_NOTES, cursor: '' })).data;
}

export type DayNotes = Awaited<ReturnType<typeof readNotes>>;

type NotesOfRow = {
  notes: DayNotes;
  today: string;
  name: string;
  row: GroupRow;
  rows: readonly GroupRow[];
};

/** Whether one of `rows` by hour is an earlier one of the same day. */
const hasEarlierHour = (row: GroupRow, rows: readonly GroupRow[]): boolean => {
  const [hour, day] = [String(row.hour), String(row.hour).slice(0, 10)];
  const isEarlier = (other: string) => other.startsWith(day) && Date.parse(other) < Date.parse(hour);
  return rows.some((other) => isEarlier(String(other.hour)));
};

/**
 * The notes on the days of a row of a table by `name`. A row of several days names theirs. In a table by hour, the first row of a day has them.
 */
export const NotesOf = ({ notes, today, name, row, rows }: NotesOfRow) => {
  const days = daysOfRow(name, row[name]);
  if (!days || (name === 'hour' && hasEarlierHour(row, rows))) return null;
  const own = notes.filter(({ day }) => day >= days.from && day <= days.to);
  return (
    <>
      {own.map(({ day, text }) => (
        <span class="cut muted" title={text}>
          {days.from !== days.to && `${dayText(day, today)}: `}
          <bdi>{text}</bdi>
        </span>
      ))}
    </>
  );
};
