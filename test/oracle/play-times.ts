// What Google Play tells of the installs of a history, and which of them are to be doubted for it.

/** Of the click and of the beginning of the installation, in seconds before the first open; absent if Play does not tell. */
export type PlayTimes = { clicked?: number; began?: number };

const PLAY_TIMES: readonly PlayTimes[] = [
  {},
  { clicked: 90, began: 60 },
  { clicked: 59, began: 60 },
  { clicked: 60, began: 60 },
  { clicked: 15, began: 75 },
  { began: 60 },
  { clicked: 15 },
];

/** Of a device of a history, by its number. */
export const playTimesOf = (device: number): PlayTimes => PLAY_TIMES[device % PLAY_TIMES.length] ?? {};

export const isChecked = ({ clicked, began }: PlayTimes) => clicked !== undefined && began !== undefined;

/** No ad leads to an installation that began before its click. What Play does not tell is no reason to doubt. */
export const isClickTooLate = ({ clicked, began }: PlayTimes) =>
  clicked !== undefined && began !== undefined && clicked < began;

/** As a backend passes them on. */
export function playFields({ clicked, began }: PlayTimes, openedAt: number): Record<string, number> {
  const opened = Math.floor(openedAt / 1000);
  return {
    ...(clicked === undefined ? {} : { referrer_click_timestamp_server_seconds: opened - clicked }),
    ...(began === undefined ? {} : { install_begin_timestamp_server_seconds: opened - began }),
  };
}
