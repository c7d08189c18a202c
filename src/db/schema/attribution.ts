import { sql } from 'drizzle-orm';
import { index, integer, primaryKey, real, sqliteTable, text } from 'drizzle-orm/sqlite-core';

/**
 * Clicks on tracking links, kept until no window of their application reaches them any more. Ids are ordered by time, so a
 * window is a range of the primary key. What is not known (yet) is null: the click and the landing page's measurement
 * arrive in any order, and each fills in its part.
 */
export const clicks = sqliteTable(
  'clicks',
  {
    applicationId: text('application_id').notNull(),
    id: text().notNull(),
    creativeId: text('creative_id').notNull(),
    clickedAt: integer('clicked_at').notNull(),
    osFamily: text('os_family').notNull(),
    osVersion: text('os_version'),
    deviceModel: text('device_model'),
    /** Keyed hash of the address, different in every application; null once the probabilistic window is over. */
    ipHash: text('ip_hash'),
    timezone: text(),
    /** CSS pixels, as the browser holds the screen. */
    screenWidth: real('screen_width'),
    screenHeight: real('screen_height'),
    /** Device pixels to a CSS pixel. */
    pixelRatio: real('pixel_ratio'),
    /** ISO 3166 code in lower case, as the edge tells it. */
    country: text(),
    /** JSON: the query parameters of the link, whose networks need their click ids back. */
    params: text(),
    /** The device that was credited to this click first. A row may begin with it, before the queue has brought the click. */
    deviceId: text('device_id'),
    /**
     * Who claimed it first: the alias of that device, else its id. A call that failed after its claim may so be repeated, although
     * the repeat mints another device. Null as `device_id` is.
     */
    claimedBy: text('claimed_by'),
    /** How many devices named this click; more than one is a sign of fraud. */
    namedInstalls: integer('named_installs').notNull().default(0),
  },
  (table) => [
    primaryKey({ columns: [table.applicationId, table.id] }),
    index('clicks_by_timezone').on(table.applicationId, table.osFamily, table.timezone, table.id),
    index('clicks_by_ip').on(table.applicationId, table.ipHash, table.id).where(sql`ip_hash IS NOT NULL`),
    /** Finds the hashes whose time is over without a look at the clicks that have none. */
    index('clicks_with_ip').on(table.applicationId, table.id).where(sql`ip_hash IS NOT NULL`),
  ],
);
