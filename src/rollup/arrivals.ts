/** Whether an application's rollups have any device, and any event of one beyond its acquisition. */
export async function readCountedArrivals(
  db: D1Database,
  applicationId: string,
): Promise<{ device: boolean; event: boolean }> {
  const row = await db
    .prepare(
      `SELECT EXISTS (SELECT 1 FROM rollup_daily WHERE application_id = ?1 AND installs > 0) AS device,
         EXISTS (SELECT 1 FROM rollup_daily WHERE application_id = ?1
           AND (sessions > 0 OR custom_events > 0 OR impressions > 0 OR purchases > 0 OR failed_purchases > 0)) AS event`,
    )
    .bind(applicationId)
    .first<{ device: number; event: number }>();
  return { device: row?.device === 1, event: row?.event === 1 };
}

/** The day of an application's first event of any kind; null where nothing was counted yet. */
export async function readFirstDay(db: D1Database, applicationId: string): Promise<string | null> {
  const row = await db
    .prepare('SELECT min(day) AS day FROM rollup_daily WHERE application_id = ?')
    .bind(applicationId)
    .first<{ day: string | null }>();
  return row?.day ?? null;
}
