import { type SQL, sql } from 'drizzle-orm';
import { channels, type Database, notices } from '#db';
import type { Message } from './message.ts';

export type { Message };

/** Inserts one message for each of an application's channels; `guard` is an SQL condition, which may choose a channel. */
export const noticeEachChannel = (
  db: Database,
  applicationId: string,
  notice: { id: string; subject: string; message: Message; now: number },
  guard: SQL,
) =>
  db
    .insert(notices)
    .select(
      sql`SELECT ${channels.id}, ${notice.id}, ${notice.subject},
          ${JSON.stringify(notice.message)}, 0, ${notice.now}, ${notice.now}
        FROM ${channels} WHERE ${channels.applicationId} = ${applicationId} AND ${guard}`,
    )
    .onConflictDoNothing();
