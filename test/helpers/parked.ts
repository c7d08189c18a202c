import { env } from 'cloudflare:workers';
import { database, parkedMessages } from '#db';
import { newId } from '#lib/ids';

export type ParkedRow = { id: string; application_id: string; body: string; reason: string };

/** The parked messages of an application; with the empty text, those whose application is unknown. */
export async function parkedOf(applicationId: string): Promise<ParkedRow[]> {
  const { results } = await env.DB.prepare(
    'SELECT * FROM parked_messages WHERE application_id = ? ORDER BY id',
  )
    .bind(applicationId)
    .all<ParkedRow>();
  return results;
}

/** Parks a message of an application; answers its id. */
export async function parkMessage(
  applicationId: string,
  more: Partial<typeof parkedMessages.$inferInsert> = {},
): Promise<string> {
  const id = newId('prk');
  const row = {
    id,
    applicationId,
    body: '{"v":1,"events":[]}',
    reason: 'broken',
    parkedAt: Date.now(),
    ...more,
  };
  await database(env.DB).insert(parkedMessages).values(row);
  return row.id;
}
