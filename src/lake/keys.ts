import { isDay } from '#lib/time';

// Where raw event files are: `events/application=<id>/day=<day of the events>/<first event id>.parquet`, as Hive partitions.

/** The prefix of all files of an application. */
export const filePrefix = (applicationId: string) => `events/application=${applicationId}/`;

/** The partition of events of a day. One that is not in the calendar is null, as Hive writes it. */
export const partitionOf = (day: string): string => (isDay(day) ? day : '__HIVE_DEFAULT_PARTITION__');

/** The key of a new file. No other file has its first event. */
export const fileKey = (
  applicationId: string,
  { firstDay, firstEventId }: { firstDay: string; firstEventId: string },
) => `${filePrefix(applicationId)}day=${partitionOf(firstDay)}/${firstEventId}.parquet`;

/** The key of a file's next revision. */
export const revisedKey = (key: string, revision: number): string =>
  `${key.replace(/(?:\.r\d+)?\.parquet$/, '')}.r${revision}.parquet`;

/** The partition that a file is in. */
export const folderOfFile = (key: string): string => key.slice(0, key.lastIndexOf('/'));
