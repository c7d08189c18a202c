import { weekOf } from '#lib/calendar';

/** `Week X` of a `YYYY-MM-DD` day with its ISO 8601 week number, the name of a campaign if none is given. */
export const weekName = (day: string): string => `Week ${Number(weekOf(day).slice(-2))}`;
