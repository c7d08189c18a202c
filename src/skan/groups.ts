import { sql } from 'drizzle-orm';
import { skanPostbacks } from '#db';

/** The SQL of each grouping. */
export const GROUPS = {
  day: skanPostbacks.day,
  network: skanPostbacks.network,
  source_identifier: skanPostbacks.sourceIdentifier,
  source_app: skanPostbacks.sourceApp,
  country: sql`upper(${skanPostbacks.country})`,
  fidelity: skanPostbacks.fidelity,
  conversion_type: skanPostbacks.conversion,
  window: sql`${skanPostbacks.sequence} + 1`,
} as const;
export type SkanGroup = keyof typeof GROUPS;
export const SKAN_GROUPS = Object.keys(GROUPS) as [SkanGroup, ...SkanGroup[]];
