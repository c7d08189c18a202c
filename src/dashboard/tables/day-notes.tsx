import { database } from '#db';
import { listNotes } from '#notes';
import { dayText } from '../shell/dates.ts';
import type { Column } from '../shell/parts.tsx';
import type { View } from '../shell/view.ts';
import { daysOfRow, GroupCell, type GroupRow, groupLabel } from './groups.tsx';

const MAX_NOTES = 100;

/** The notes on a view's days, the earliest day first. */
export async function readNotes(db: D1Database, { application, from, to }: View) {
  return (await listNotes(database(db), application, { from, to, limit: MAX_NOTES, cursor: '' })).data;
}

export type DayNotes = Awaited<ReturnType<typeof readNotes>>;

type NotesOfRow = { notes: DayNotes; today: string; name: string; row: GroupRow };

/** The notes on the days of a row of a table by `name`: a day, week or month. A row of several days names theirs. */
export const NotesOf = ({ notes, today, name, row }: NotesOfRow) => {
  const days = name === 'hour' ? null : daysOfRow(name, row[name]);
  if (!days) return null;
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

/** The first column of a table over time: links that narrow the page at `path`, with the notes on their days. */
export const timeColumn = (
  view: View,
  { path, unit, notes }: { path: string; unit: string; notes: DayNotes },
): Column<GroupRow> => ({
  label: groupLabel(unit),
  cell: (row) => (
    <>
      <GroupCell view={view} path={path} name={unit} row={row} />
      <NotesOf notes={notes} today={view.today} name={unit} row={row} />
    </>
  ),
});
