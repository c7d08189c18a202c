import { eq } from 'drizzle-orm';
import { type AppleAd, findAdItems, giveBackClick, idsOfLevel, type NetworkAd } from '#attribution';
import { counterOf, eventDelaySeconds, retryCall } from '#counting';
import { applications, database, retryTransient } from '#db';
import { inParallel } from '#lib/collections/in-parallel';
import { logWarning } from '#lib/log';
import { placeAd } from '../place-ad.ts';
import { askApple } from './ask-apple.ts';
import { type CreditMessage, creditIn } from './message.ts';

export { placeAd };

/** Of Apple's documentation: ask again after five seconds, three times. */
const ASK_AGAIN_SECONDS = 5;
const MAX_ATTEMPTS = 4;
/** An invocation may open 6 connections. */
const MAX_AT_ONCE = 5;
/** What is not asked by then waits for the next delivery, so that a batch never takes long. */
const MAX_BATCH_MS = 20_000;

type CreditToResolve = CreditMessage['open_credit'];

/**
 * Resolves the open credits that messages are about, by asking Apple. Never throws: each message is acknowledged or delivered again. Redelivery
 * at any point changes nothing: a credit that is resolved stays as it is, and a click that its device lost to Apple is given back again.
 */
export async function resolveCredits(messages: readonly Message[], env: Env): Promise<void> {
  const deadline = Date.now() + MAX_BATCH_MS;
  await inParallel(messages, MAX_AT_ONCE, async (message) => {
    const credit = creditIn(message.body);
    // One that cannot be read is of another version. Its counter resolves the credit in time.
    if (!credit) message.ack();
    else if (Date.now() >= deadline) message.retry({ delaySeconds: ASK_AGAIN_SECONDS });
    else await resolve(env, message, credit);
  });
}

async function resolve(env: Env, message: Message, credit: CreditToResolve): Promise<void> {
  try {
    if (await isResolved(env, credit, message.attempts >= MAX_ATTEMPTS)) message.ack();
    else message.retry({ delaySeconds: ASK_AGAIN_SECONDS });
  } catch (error) {
    logWarning('credit not resolved', error, { message_id: message.id, attempt: message.attempts });
    message.retry({ delaySeconds: eventDelaySeconds(message.attempts) });
  }
}

type ReadCredit = { token: string | null; replacedClickId: string | null };

/** Resolves a credit. Returns false if Apple has no answer yet; `isLast`: it is then resolved without one. */
async function isResolved(
  env: Env,
  { application_id: applicationId, shard, device_id: deviceId }: CreditToResolve,
  isLast: boolean,
): Promise<boolean> {
  const counter = () => counterOf(env, applicationId, shard);
  const giveBack = async ({ replacedClickId }: Pick<ReadCredit, 'replacedClickId'>) => {
    if (replacedClickId === null) return;
    const db = database(env.DB);
    await retryTransient(() => giveBackClick(db, applicationId, replacedClickId, deviceId).run());
  };
  const application = await findLookup(env.DB, applicationId);
  // Its counters were deleted too.
  if (!application) return true;
  const open = await retryCall(() => counter().readCredit(deviceId));
  if (open.token === null) {
    await giveBack(open);
    return true;
  }
  const asked = application.isWanted ? await askApple(env, open.token) : ({ outcome: 'not_asked' } as const);
  if (asked === null && !isLast) return false;
  const answer = asked ?? ({ outcome: 'unanswered' } as const);
  const creativeId = answer.outcome === 'attributed' ? await placeAppleAd(env, application, answer.ad) : null;
  const resolved = { answer, creativeId };
  await giveBack(await retryCall(() => counter().resolveCredit(deviceId, resolved)));
  return true;
}

/** The application of a credit: its team, and what it wants of Apple. Null once it is deleted. */
async function findLookup(db: D1Database, id: string) {
  const [row] = await database(db)
    .select({
      id: applications.id,
      teamId: applications.teamId,
      isWanted: applications.appleAds,
      createFromNetworks: applications.createFromNetworks,
    })
    .from(applications)
    .where(eq(applications.id, id));
  return row ?? null;
}

/** Apple tells ids only. */
function networkAdOf({ campaign_id, ad_group_id, ad_id }: AppleAd): NetworkAd {
  const level = (id: string | undefined) => ({ ids: idsOfLevel(id), name: '' });
  return {
    ...{ network: 'apple_ads', campaign: level(campaign_id) },
    ...{ adset: level(ad_group_id), creative: level(ad_id) },
  };
}

async function placeAppleAd(env: Env, application: Parameters<typeof placeAd>[1], answer: AppleAd) {
  const ad = networkAdOf(answer);
  return placeAd(env, application, ad, await findAdItems(database(env.DB), application.id, ad), Date.now());
}
