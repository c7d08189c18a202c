import { countNewCreatives } from '#creatives';
import { database } from '#db';
import { count as shownCount } from '#lib/format';
import { isolate } from '#lib/input/isolate';
import { DAY_MS, dayIn, hourIn } from '#lib/time';
import { findFirstSpendDay } from '#money';
import type { View } from '../shell/view.ts';
import { type DayNotes, readNotes } from '../tables/day-notes.tsx';
import type { AxisPlace } from '../tables/places.ts';
import type { Marker } from './chart.tsx';

/** The most characters of a name in a chart's note. */
const MAX_NAME = 40;

/** By code points, because half of a pair would be shown as a box. */
const cutName = (name: string) => {
  const characters = [...name];
  return characters.length <= MAX_NAME ? name : `${characters.slice(0, MAX_NAME - 1).join('')}…`;
};

/** The index of the place of a day or hour; -1 if there is none. */
const indexIn = (places: readonly AxisPlace[], at: string): number =>
  isByHour(places)
    ? places.findIndex(({ start }) => start.startsWith(at))
    : places.findLastIndex(({ start }) => start <= at);

const isByHour = (places: readonly AxisPlace[]) =>
  places.some(({ start }) => start.length > 'YYYY-MM-DD'.length);

/** Notes as markers. */
export const noteMarkers = (notes: DayNotes, places: readonly AxisPlace[]): Marker[] =>
  notes
    .map(({ day, text }) => ({ index: indexIn(places, day), text: isolate(cutName(text)) }))
    .filter(({ index }) => index >= 0);

/** A day's event as a marker; none if the day is outside the view. */
export function markerOf(
  places: readonly AxisPlace[],
  { from, to }: Pick<View, 'from' | 'to'>,
  day: string,
  text: string,
): Marker[] {
  const index = indexIn(places, day);
  return day >= from && day <= to && index >= 0 ? [{ index, text }] : [];
}

/** Events that may explain a change in a chart: notes, the first spend, and new creatives; and the notes by day. */
export async function readMarkers(
  db: D1Database,
  view: View,
  places: readonly AxisPlace[],
): Promise<{ markers: Marker[]; notes: DayNotes }> {
  const { application, from, to, filters } = view;
  // Creatives are divided by name only, and the first spend by nothing.
  const isWhole = Object.keys(filters).length === 0;
  const [firstSpend, notes, made] = await Promise.all([
    isWhole ? findFirstSpendDay(database(db), application.id) : null,
    readNotes(db, view),
    // A day in any time zone lies within a day and a half of the same day in UTC.
    countNewCreatives(database(db), application.id, {
      since: Date.parse(from) - DAY_MS,
      until: Date.parse(to) + 2 * DAY_MS,
      within: filters,
    }),
  ]);
  const inView = (day: string) => day >= from && day <= to;
  const found = new Map<number, { name: string; count: number }>();
  for (const { name, createdAt, count } of made) {
    const day = dayIn(application.timezone, createdAt);
    const index = indexIn(places, isByHour(places) ? hourIn(application.timezone, createdAt) : day);
    if (inView(day)) found.set(index, { name, count: count + (found.get(index)?.count ?? 0) });
  }
  const news = [...found].map(([index, { name, count }]) => ({
    index,
    text: count === 1 ? `new creative ${isolate(cutName(name))}` : `${shownCount(count)} new creatives`,
  }));
  const spend = firstSpend === null ? [] : markerOf(places, view, firstSpend, 'first spend');
  const markers = [...noteMarkers(notes, places), ...spend, ...news]
    .filter(({ index }) => index >= 0)
    .sort((left, right) => left.index - right.index);
  return { markers, notes };
}
