import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';

/** What happened on a day, such as a release or a new price, in the words of the team. Charts show it. */
export const notes = sqliteTable(
  'notes',
  {
    teamId: text('team_id').notNull(),
    id: text().notNull(),
    applicationId: text('application_id').notNull(),
    /** In the application's time zone. */
    day: text().notNull(),
    text: text().notNull(),
    /** The creator's email, or the id of an access token. */
    createdBy: text('created_by').notNull(),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.teamId, table.id] }),
    index('notes_by_day').on(table.applicationId, table.day, table.id),
  ],
);
