import { DAY_MS, HOUR_MS, hourText } from '#lib/time';

// Figures by hour follow the clock of the application's time zone. When clocks are set back, one hour of the clock occurs twice; the two differ in
// their UTC offset, so a day has 23, 24 or 25 hours. Lord Howe Island changes its clocks by half an hour, which shortens one hour of the day or
// adds half an hour.

/** Figures by hour are kept for this many days before today. */
export const HOURS_KEPT_DAYS = 32;

/** The format of an hour's id within its day: `clockHour * perHour + quarters + ofUtc`, with the UTC offset in quarters of an hour. */
const HOUR_ID = { perHour: 256, ofUtc: 128 } as const;

const QUARTER_MINUTES = 15;

/**
 * The hour of the application's clock in which an event happened; null for an event that arrived too late to be counted by hour. `zone_offset` is
 * the number of minutes by which the clock is ahead of UTC.
 */
export function hourIdOf(event: {
  occurred_at: number;
  received_at: number;
  zone_offset?: number | undefined;
}): number | null {
  const { occurred_at, received_at, zone_offset = 0 } = event;
  // One more day, because days start at different times in different zones. Events that are even later are outside every report.
  if (received_at - occurred_at > (HOURS_KEPT_DAYS + 1) * DAY_MS) return null;
  const local = occurred_at + zone_offset * 60_000;
  const clockHour = Math.floor((local - Math.floor(local / DAY_MS) * DAY_MS) / HOUR_MS);
  return clockHour * HOUR_ID.perHour + HOUR_ID.ofUtc + Math.round(zone_offset / QUARTER_MINUTES);
}

/** The hour with an id of `hourIdOf`, in the form of `hourText`. */
export const hourOfId = (day: string, id: number): string =>
  hourText(day, Math.floor(id / HOUR_ID.perHour), ((id % HOUR_ID.perHour) - HOUR_ID.ofUtc) * QUARTER_MINUTES);
