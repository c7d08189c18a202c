import { isOpenToApple, parseOs } from '#attribution';
import { queueFor } from '#env';
import type { AuthenticatedApplication } from '#http';
import { chunksOf } from '#lib/collections/chunks';
import { sendWithRetry } from '#rollup';
import type { NewDraft } from '../draft.ts';
import type { CreditMessage } from './message.ts';

/** The platform accepts 100 messages per call. */
const MESSAGES_PER_CALL = 100;

/** The token to ask Apple about for a new device: if the application wants it, unless the attribution is certain already. */
export function appleTokenOf(
  { appleAds }: AuthenticatedApplication,
  { test, attribution, metrics: { data } }: NewDraft,
): string | undefined {
  if (!appleAds || test || !isOpenToApple(attribution)) return undefined;
  const isIos = parseOs(data.os_system, data.device_name, data.device_model).family === 'ios';
  return isIos ? data.adservices_token : undefined;
}

/**
 * Asks the queue to resolve open credits. Never throws: their counter resolves, without Apple's answer, what the queue does not.
 */
export async function requestCredits(
  env: Env,
  applicationId: string,
  opened: readonly { shard: number; deviceId: string }[],
): Promise<void> {
  const groups = Map.groupBy(opened, ({ shard }) => queueFor(env, applicationId, shard));
  const calls = [...groups].flatMap(([queue, own]) =>
    [...chunksOf(own, MESSAGES_PER_CALL)].map((part) => {
      const messages = part.map(
        ({ shard, deviceId }): MessageSendRequest<CreditMessage> => ({
          body: { open_credit: { application_id: applicationId, shard, device_id: deviceId } },
        }),
      );
      return sendWithRetry(() => queue.sendBatch(messages));
    }),
  );
  await Promise.all(calls);
}

/** Whether a message is about an open credit, and not of events. */
export const isOfCredit = ({ body }: Pick<Message, 'body'>): boolean =>
  typeof body === 'object' && body !== null && 'open_credit' in body;
