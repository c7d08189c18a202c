import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';

/** A dashboard page with its filters, saved under a name that the whole team sees. */
export const savedViews = sqliteTable(
  'saved_views',
  {
    teamId: text('team_id').notNull(),
    id: text().notNull(),
    name: text().notNull(),
    path: text().notNull(),
    /** The query string, without its question mark. */
    query: text().notNull(),
    /** The creator's email. */
    createdBy: text('created_by').notNull(),
    createdAt: integer('created_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.teamId, table.id] })],
);

/** A link that shows one view to anyone who has it, until it expires or is revoked. */
export const shareLinks = sqliteTable(
  'share_links',
  {
    /** SHA-256 of the link's last segment, hex. */
    hash: text().primaryKey(),
    teamId: text('team_id').notNull(),
    path: text().notNull(),
    query: text().notNull(),
    /** For whom, in the creator's words. */
    note: text().notNull(),
    createdBy: text('created_by').notNull(),
    createdAt: integer('created_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
  },
  (table) => [index('share_links_by_team').on(table.teamId)],
);
