import { and, asc, eq, lte } from 'drizzle-orm';
import { applications, channels, type Database, database, notices } from '#db';
import { settingsOf } from '#env';
import { chunksOf } from '#lib/collections/chunks';
import { toOneLine } from '#lib/input/one-line';
import { MINUTE_MS } from '#lib/time';
import { addressOf, type Channel, webhookFault } from './channels.ts';
import { turnOfTeam } from './fair-order.ts';
import { Message, toHtml, toText } from './message.ts';
import { toWebhookRequest } from './webhook-body.ts';

const NOTICES_PER_RUN = 20;
/** An invocation may open six connections at once. */
const SENT_AT_ONCE = 5;
const TIMEOUT_MS = 10_000;
/** With waits of 1, 2, 4 … minutes, a message is given up after about two hours. */
const MAX_ATTEMPTS = 8;

type Notice = typeof notices.$inferSelect;

/** The mail binding is optional: `[[send_email]] name = "MAIL"` in wrangler.toml, together with `MAIL_FROM`. */
type MailEnv = Env & { MAIL?: SendEmail };

/** Whether mail can be sent: there is a binding and a sender. */
export const canMail = (env: Env): boolean =>
  (env as MailEnv).MAIL !== undefined && settingsOf(env).MAIL_FROM !== '';

async function postToWebhook(env: Env, channel: Addressee, message: Message): Promise<void> {
  const target = await addressOf(channel, settingsOf(env).KEY_ENCRYPTION_SECRET);
  const fault = webhookFault(target);
  if (fault) throw new Error(`The address ${fault}`);
  const { url, body } = toWebhookRequest(target, message, channel.origin);
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
    // Do not follow redirects: only the original URL was checked.
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  await answer.body?.cancel();
  if (!answer.ok) throw new Error(`The webhook answered with status ${answer.status}`);
}

async function sendMail(
  env: MailEnv,
  { target, origin }: Addressee,
  subject: string,
  message: Message,
): Promise<void> {
  const { MAIL_FROM } = settingsOf(env);
  if (!env.MAIL || MAIL_FROM === '') throw new Error('Email is not set up on this deployment');
  await env.MAIL.send({
    to: target,
    from: MAIL_FROM,
    subject: toOneLine(subject),
    text: toText(message, origin),
    html: await toHtml(message, origin),
  });
}

type Addressee = Pick<Channel, 'kind' | 'target' | 'encryptedTarget' | 'origin'>;

/** Sends a message to a channel. Throws if it is not accepted. */
export const sendTo = (env: Env, channel: Addressee, subject: string, message: Message): Promise<void> =>
  channel.kind === 'webhook'
    ? postToWebhook(env, channel, message)
    : sendMail(env, channel, subject, message);

const ofNotice = ({ channelId, id }: Notice) => and(eq(notices.channelId, channelId), eq(notices.id, id));

async function deliver(env: Env, db: Database, channel: Channel, notice: Notice, now: number): Promise<void> {
  try {
    const message = Message.parse(JSON.parse(notice.body));
    await sendTo(env, channel, notice.subject, message);
  } catch (error) {
    const failure = (error instanceof Error ? error.message : String(error)).slice(0, 200);
    const failed = db.update(channels).set({ failure, failedAt: now }).where(eq(channels.id, channel.id));
    if (notice.attempts < MAX_ATTEMPTS) await failed;
    else await db.batch([failed, db.delete(notices).where(ofNotice(notice))]);
    return;
  }
  await db.batch([
    db.delete(notices).where(ofNotice(notice)),
    db.update(channels).set({ failure: null, failedAt: null }).where(eq(channels.id, channel.id)),
  ]);
}

/**
 * Delivers due messages, at most 20 per run, the teams in turn, each message at least once. A failure is recorded with the channel and retried after 1, 2, 4 …
 * minutes, up to 8 attempts in all.
 */
export async function sendNotices(env: Env, now: number): Promise<void> {
  const db = database(env.DB);
  const due = await db
    .select({ notice: notices, channel: channels })
    .from(notices)
    .leftJoin(channels, eq(channels.id, notices.channelId))
    .leftJoin(applications, eq(applications.id, channels.applicationId))
    .where(lte(notices.nextAttemptAt, now))
    .orderBy(turnOfTeam(notices.nextAttemptAt), asc(notices.nextAttemptAt))
    .limit(NOTICES_PER_RUN);
  for (const some of chunksOf(due, SENT_AT_ONCE)) {
    await Promise.all(
      some.map(async ({ notice, channel }) => {
        // Claimed one by one, so that a concurrent run does not send it too.
        const [claimed] = await db
          .update(notices)
          .set({
            attempts: notice.attempts + 1,
            nextAttemptAt: now + MINUTE_MS * 2 ** notice.attempts,
          })
          .where(and(ofNotice(notice), eq(notices.attempts, notice.attempts)))
          .returning();
        if (!claimed) return;
        // The channel was deleted with its application.
        if (!channel) await db.delete(notices).where(ofNotice(notice));
        else await deliver(env, db, channel, claimed, now);
      }),
    );
  }
}
