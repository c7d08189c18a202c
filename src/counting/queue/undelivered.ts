import * as z from 'zod';
import { batchWithRetry } from '#db';
import { deletePrefix } from '#lake';
import { logLine } from '#lib/log';
import { type Parked, parkStatements } from '#rollup';
import { forgetDelayed } from './delayed.ts';

// Messages that neither a counter nor D1 accepted for days are filed in R2, one file each, with the reason. Once D1 accepts them, they are
// parked like others, which shows them and allows to replay them.

const PREFIX = 'undelivered/';
/** In place of the application of a message that is too damaged to name it. */
const NO_APPLICATION = 'unknown';
/** Per run of the cron, because an invocation has a limited number of calls. */
const MAX_RECOVERED = 200;
const MAX_LISTED = 1_000;

const FiledMessage = z.lazy(() =>
  z.object({
    message_id: z.string(),
    filed_at: z.iso.datetime(),
    parked: z.object({ id: z.string(), applicationId: z.string(), body: z.string(), reason: z.string() }),
  }),
);

const prefixOf = (applicationId: string) => `${PREFIX}${applicationId || NO_APPLICATION}/`;

/** Files a message. Idempotent: the same message has the same file. */
export async function fileUndelivered(
  bucket: Pick<R2Bucket, 'put'>,
  messageId: string,
  parked: Parked,
  now: number,
): Promise<void> {
  const filed: z.input<typeof FiledMessage> = {
    message_id: messageId,
    filed_at: new Date(now).toISOString(),
    parked,
  };
  await bucket.put(`${prefixOf(parked.applicationId)}${parked.id}.json`, JSON.stringify(filed));
}

/** The number of filed messages by application, of the first 1,000. Messages without an application are under the empty id. */
export async function countUndelivered(bucket: Pick<R2Bucket, 'list'>): Promise<Map<string, number>> {
  const { objects } = await bucket.list({ prefix: PREFIX, limit: MAX_LISTED });
  const counts = new Map<string, number>();
  for (const { key } of objects) {
    const [name = ''] = key.slice(PREFIX.length).split('/');
    const applicationId = name === NO_APPLICATION ? '' : name;
    counts.set(applicationId, (counts.get(applicationId) ?? 0) + 1);
  }
  return counts;
}

/** Parks filed messages and deletes their files. Idempotent. Throws if D1 or R2 fails; what is left is parked by the next run. */
export async function parkUndelivered(env: Pick<Env, 'DB' | 'RAW_EVENTS'>): Promise<void> {
  const { objects } = await env.RAW_EVENTS.list({ prefix: PREFIX, limit: MAX_RECOVERED });
  for (const { key, uploaded } of objects) {
    const file = await env.RAW_EVENTS.get(key);
    if (!file) continue;
    const { message_id: messageId, parked } = FiledMessage.parse(await file.json());
    const { applicationId } = parked;
    await batchWithRetry(env.DB, () => [
      ...parkStatements(env.DB, [parked], uploaded.getTime()),
      forgetDelayed(env.DB, [{ applicationId, messageId }]),
    ]);
    await env.RAW_EVENTS.delete(key);
    logLine('warn', 'undelivered message parked', { message_id: messageId });
  }
}

/** Deletes an application's filed messages until a deadline (epoch milliseconds). Returns whether none is left. Idempotent. */
export const deleteUndelivered = (
  bucket: Pick<R2Bucket, 'list' | 'delete'>,
  applicationId: string,
  deadline: number,
): Promise<boolean> => deletePrefix(bucket, prefixOf(applicationId), deadline);
