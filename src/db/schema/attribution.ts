import { sql } from 'drizzle-orm';
import { index, integer, primaryKey, real, sqliteTable, text } from 'drizzle-orm/sqlite-core';

/**
 * Clicks on tracking links, kept as long as any window of their application reaches them. Ids are ordered by time, so a window is a
 * range of the primary key. Unknown values are null: the click and the landing page's measurement arrive in any order, and each fills
 * in its part.
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
    /** Keyed hash of the IP address, different for every application; null once the probabilistic window is over. */
    ipHash: text('ip_hash'),
    timezone: text(),
    /** CSS pixels, in the browser's current orientation. */
    screenWidth: real('screen_width'),
    screenHeight: real('screen_height'),
    /** Device pixels per CSS pixel. */
    pixelRatio: real('pixel_ratio'),
    /** Lower-case ISO 3166 code, as reported by the edge. */
    country: text(),
    /** JSON: the link's query parameters, from which ad networks get their click ids back. */
    params: text(),
    /** The network that the link or its query parameters name. */
    network: text(),
    /** The device that was credited with this click first. It may be set before the queue delivers the click. */
    deviceId: text('device_id'),
    /**
     * Who claimed the click first: that device's alias, or its id if it has none. A call that failed after its claim can thus be
     * retried, although the retry mints another device. Null if `device_id` is null.
     */
    claimedBy: text('claimed_by'),
    /** The number of devices that named this click; more than one is a sign of fraud. */
    namedInstalls: integer('named_installs').notNull().default(0),
  },
  (table) => [
    primaryKey({ columns: [table.applicationId, table.id] }),
    index('clicks_by_timezone').on(table.applicationId, table.osFamily, table.timezone, table.id),
    index('clicks_by_ip').on(table.applicationId, table.ipHash, table.id).where(sql`ip_hash IS NOT NULL`),
    /** Finds expired hashes without scanning the clicks that have none. */
    index('clicks_with_ip').on(table.applicationId, table.id).where(sql`ip_hash IS NOT NULL`),
  ],
);

/**
 * Impressions of creatives that networks report with the address of the device, kept as long as the view-through window reaches them. There
 * are many times as many as clicks, and only their address makes a match likely enough, so they are read by it alone.
 */
export const impressions = sqliteTable(
  'impressions',
  {
    applicationId: text('application_id').notNull(),
    id: text().notNull(),
    creativeId: text('creative_id').notNull(),
    shownAt: integer('shown_at').notNull(),
    osFamily: text('os_family').notNull(),
    osVersion: text('os_version'),
    deviceModel: text('device_model'),
    /** Keyed hash of the IP address, different for every application. */
    ipHash: text('ip_hash').notNull(),
    /** Lower-case ISO 3166 code. */
    country: text(),
    network: text(),
    /** The device that was credited with this impression, and who claimed it: as of a click. */
    deviceId: text('device_id'),
    claimedBy: text('claimed_by'),
  },
  (table) => [
    primaryKey({ columns: [table.applicationId, table.id] }),
    index('impressions_by_ip').on(table.applicationId, table.ipHash, table.id),
  ],
);
