import { randomSecret, sha256Hex } from '#lib/crypto';

/**
 * The secret of a restore, and SQL that begins it or takes over one that is not complete, and then returns its row; none if the deployment is
 * not empty. With `applicationId`, the restore is that of one application of a deployment that is not. Self-contained, because the command line reaches the database only through `wrangler d1 execute`.
 */
export async function beginRestoreSql(
  now: number,
  applicationId: string | null = null,
): Promise<{ statements: string; secret: string }> {
  const secret = randomSecret();
  const hash = await sha256Hex(secret);
  if (applicationId !== null) return { statements: sqlOfApplication(applicationId, hash, now), secret };
  const statements = [
    `INSERT INTO restores (id, hash, started_at) SELECT 1, '${hash}', ${now}
     WHERE NOT EXISTS (SELECT 1 FROM teams) AND NOT EXISTS (SELECT 1 FROM users) ON CONFLICT DO NOTHING`,
    `UPDATE restores SET hash = '${hash}' WHERE id = 1 AND finished_at IS NULL`,
    `SELECT id, finished_at FROM restores WHERE id = 1`,
  ];
  return { statements: statements.join(';\n'), secret };
}

/** Takes over a restore of the application, or begins one unless that of another is not complete. Returns no row for an unknown application. */
function sqlOfApplication(applicationId: string, hash: string, now: number): string {
  if (!/^app_[0-9a-f]{32}$/.test(applicationId)) throw new Error(`${applicationId} is not an application id`);
  const owner = `SELECT id FROM applications WHERE id = '${applicationId}'`;
  return [
    `UPDATE restores SET hash = '${hash}' WHERE id = 2 AND finished_at IS NULL AND application_id = '${applicationId}'`,
    `INSERT INTO restores (id, hash, started_at, application_id) SELECT 2, '${hash}', ${now}, id FROM (${owner}) WHERE true
     ON CONFLICT DO UPDATE SET hash = excluded.hash, started_at = excluded.started_at, application_id = excluded.application_id,
       done = 0, busy_until = 0, summary = '{}', finished_at = NULL WHERE finished_at IS NOT NULL`,
    `SELECT id, finished_at, application_id FROM restores WHERE id = 2 AND EXISTS (${owner})`,
  ].join(';\n');
}
