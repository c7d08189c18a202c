import { randomSecret, sha256Hex } from '#lib/crypto';

/**
 * The secret of a restore, and SQL that begins it or takes over one that is not complete, and then returns its row; none if the deployment is
 * not empty. Self-contained, because the command line reaches the database only through `wrangler d1 execute`.
 */
export async function beginRestoreSql(now: number): Promise<{ statements: string; secret: string }> {
  const secret = randomSecret();
  const hash = await sha256Hex(secret);
  const statements = [
    `INSERT INTO restores (id, hash, started_at) SELECT 1, '${hash}', ${now}
     WHERE NOT EXISTS (SELECT 1 FROM teams) AND NOT EXISTS (SELECT 1 FROM users) ON CONFLICT DO NOTHING`,
    `UPDATE restores SET hash = '${hash}' WHERE finished_at IS NULL`,
    `SELECT id, finished_at FROM restores`,
  ];
  return { statements: statements.join(';\n'), secret };
}
