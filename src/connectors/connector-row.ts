import type { connectors } from '#db';

export type ConnectorRow = typeof connectors.$inferSelect;

/** A cron run ends after 15 minutes. One that is cut off leaves the time of its start, and counts as under way until then. */
export const CUT_OFF_MS = 20 * 60_000;
