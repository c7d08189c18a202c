import type { Attribution } from './match.ts';

/** Why a device was credited to what brought it, with the names of what is named. Times are epoch milliseconds. */
export type Explanation = {
  acquiredDay: string;
  acquiredAt: number;
  attribution: Partial<Attribution>;
  /** Name of each creative that the attribution speaks of, by id. */
  creatives: Record<string, string>;
};

/** Null for an erased device and for one of another application. The caller has checked that the application is its own. */
export async function explainDevice(
  db: D1Database,
  applicationId: string,
  device: { id: string; acquiredDay: string },
): Promise<Explanation | null> {
  const row = await db
    .prepare(
      `SELECT acquired_at AS acquiredAt, attribution FROM devices
       WHERE application_id = ?1 AND acquired_day = ?2 AND id = ?3`,
    )
    .bind(applicationId, device.acquiredDay, device.id)
    .first<{ acquiredAt: number; attribution: string }>();
  if (!row) return null;
  const attribution: Partial<Attribution> = JSON.parse(row.attribution);
  const ids = [
    attribution.creative_id,
    ...(attribution.candidates ?? []).map(({ creative_id }) => creative_id),
  ];
  const { results } = await db
    .prepare(
      `SELECT creatives.id, creatives.name FROM json_each(?2) AS wanted CROSS JOIN creatives
         ON creatives.id = wanted.value AND application_id = ?1`,
    )
    .bind(applicationId, JSON.stringify(ids.filter(Boolean)))
    .all<{ id: string; name: string }>();
  return {
    acquiredDay: device.acquiredDay,
    acquiredAt: row.acquiredAt,
    attribution,
    creatives: Object.fromEntries(results.map(({ id, name }) => [id, name])),
  };
}
