import { sql } from 'drizzle-orm';
import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { OutboundFilter } from '#catalogue';

/** Why nothing is sent if a person has switched it off. */
export const OFF_BY_HAND = 'Switched off';

/** Where counted events of an application are sent. Times are epoch milliseconds. */
export const destinations = sqliteTable(
  'destinations',
  {
    id: text().primaryKey(),
    applicationId: text('application_id').notNull(),
    kind: text().notNull(),
    /** What its kind needs to know and is not secret. */
    settings: text({ mode: 'json' }).$type<Record<string, string>>().notNull(),
    /** JSON of `DestinationSecrets`, encrypted with AES-GCM. They are never shown. */
    credentials: text().notNull(),
    events: text({ mode: 'json' }).$type<string[]>().notNull(),
    filter: text({ mode: 'json' }).$type<OutboundFilter>().notNull(),
    /** Since when nothing is sent, and why; null while it is on. */
    offSince: integer('off_since'),
    offReason: text('off_reason'),
    /** Its number of changes that counters have to know of, and the last that they have been told of. */
    version: integer().notNull(),
    toldVersion: integer('told_version').notNull(),
    createdAt: integer('created_at').notNull(),
  },
  (table) => [
    index('destinations_by_application').on(table.applicationId, table.id),
    index('destinations_untold').on(table.id).where(sql`told_version < version`),
  ],
);
