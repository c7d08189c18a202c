import { env } from 'cloudflare:workers';

export type ParkedRow = { id: string; application_id: string; body: string; reason: string };

/** What is parked of an application; of none that could be told for the empty text. */
export async function parkedOf(applicationId: string): Promise<ParkedRow[]> {
  const { results } = await env.DB.prepare(
    'SELECT * FROM parked_messages WHERE application_id = ? ORDER BY id',
  )
    .bind(applicationId)
    .all<ParkedRow>();
  return results;
}
