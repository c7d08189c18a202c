import { and, asc, eq, isNull, like } from 'drizzle-orm';
import * as z from 'zod';
import { auditStatement, type Caller } from '#audit';
import { applications, channels, type Database, notices } from '#db';
import { AppError, EMAIL_FAULT, emailAddress, requiredText } from '#http';
import { decryptText, encryptText } from '#lib/crypto';
import { newId } from '#lib/ids';
import { isolate } from '#lib/input/isolate';
import { publicUrlFault } from '#lib/input/public-url';
import type { ApplicationRow } from '#teams';
import { DIGESTS, nextDigestAt } from './digest-time.ts';
import { alertsLink, type Message } from './message.ts';
import { noticeEachChannel } from './notice.ts';

const MAX_CHANNELS = 20;
/** Per team. The cron sends 20 messages per minute for the whole deployment. */
const MAX_WAITING_TESTS = 20;

/** Per run, because each takes a statement. */
const MAX_ENCRYPTED = 100;

const TEST_PREFIX = 'test:';

export type Channel = typeof channels.$inferSelect;

/** Why messages must not be posted to a URL; null if they may. */
export const webhookFault = (url: string): string | null => publicUrlFault(url, { ports: 'from_1024' });

/** Where messages are sent: a webhook of Discord or one that accepts Slack's `{"text"}`, or an email address. */
export const NewChannel = z
  .object({
    kind: z.enum(['webhook', 'mail'], { error: 'must be webhook or mail' }),
    target: requiredText(2048),
    digest: z.enum(DIGESTS, { error: `must be one of ${DIGESTS.join(', ')}` }),
  })
  .superRefine(({ kind, target }, ctx) => {
    const mailFault = () => (emailAddress().safeParse(target).success ? null : EMAIL_FAULT);
    const fault = kind === 'webhook' ? webhookFault(target) : mailFault();
    if (fault) ctx.addIssue({ code: 'custom', path: ['target'], message: fault });
  });
export type NewChannel = z.infer<typeof NewChannel>;

export const listChannels = (db: Database, applicationId: string): Promise<Channel[]> =>
  db
    .select()
    .from(channels)
    .where(eq(channels.applicationId, applicationId))
    .orderBy(asc(channels.id))
    .limit(MAX_CHANNELS);

/** A webhook's URL is a credential, so only its host and last characters are shown. */
export const channelText = ({ kind, target }: Pick<Channel, 'kind' | 'target'>): string =>
  kind === 'mail' ? target : `${new URL(target).host}/…${target.slice(-4)}`;

/** How a webhook is stored: what `channelText` shows of it, as a URL, and its URL encrypted. */
async function hideTarget(target: string, encryptionSecret: string) {
  return {
    target: `${new URL(target).origin}/${target.slice(-4)}`,
    encryptedTarget: await encryptText(encryptionSecret, target),
  };
}

/** `origin` is the dashboard's, for links in messages. Throws `conflict` beyond 20 channels per application. */
export async function createChannel(
  caller: Caller,
  application: ApplicationRow,
  channel: NewChannel,
  origin: string,
  encryptionSecret: string,
): Promise<void> {
  const { db, now } = caller;
  if ((await db.$count(channels, eq(channels.applicationId, application.id))) >= MAX_CHANNELS) {
    throw new AppError('conflict', `An application has at most ${MAX_CHANNELS} channels`);
  }
  const row = {
    ...channel,
    ...(channel.kind === 'webhook' ? await hideTarget(channel.target, encryptionSecret) : {}),
    id: newId('chn'),
    applicationId: application.id,
    nextDigestAt: nextDigestAt(channel.digest, application.timezone, now),
    origin,
    createdAt: now,
  };
  const subject = `${application.name}: ${channelText(channel)}`;
  await db.batch([db.insert(channels).values(row), auditStatement(caller, 'channel.created', subject)]);
}

async function requireChannel(db: Database, applicationId: string, id: string): Promise<Channel> {
  const [row] = await db
    .select()
    .from(channels)
    .where(and(eq(channels.id, id), eq(channels.applicationId, applicationId)));
  if (!row) throw new AppError('not_found', 'Channel not found');
  return row;
}

/** Removes a channel and its pending messages. Throws `not_found` for another application's channel too. */
export async function removeChannel(caller: Caller, application: ApplicationRow, id: string): Promise<void> {
  const { db } = caller;
  const subject = `${application.name}: ${channelText(await requireChannel(db, application.id, id))}`;
  await db.batch([
    db.delete(channels).where(eq(channels.id, id)),
    db.delete(notices).where(eq(notices.channelId, id)),
    auditStatement(caller, 'channel.removed', subject),
  ]);
}

/** Test messages of a team that are not delivered yet. */
async function waitingTests(db: Database, teamId: string): Promise<number> {
  const rows = await db
    .select({ id: notices.id })
    .from(notices)
    .innerJoin(channels, eq(channels.id, notices.channelId))
    .innerJoin(applications, eq(applications.id, channels.applicationId))
    .where(and(eq(applications.teamId, teamId), like(notices.id, `${TEST_PREFIX}%`)))
    .limit(MAX_WAITING_TESTS);
  return rows.length;
}

/** Queues a message for one channel, so that people see whether it arrives. Throws `conflict` while 20 of the team's wait. */
export async function sendTestMessage(
  db: Database,
  application: ApplicationRow,
  id: string,
  now: number,
): Promise<void> {
  await requireChannel(db, application.id, id);
  if ((await waitingTests(db, application.teamId)) >= MAX_WAITING_TESTS) {
    throw new AppError(
      'conflict',
      `A team has at most ${MAX_WAITING_TESTS} test messages waiting; try again when some have been sent`,
    );
  }
  const subject = `${isolate(application.name)} · Test message`;
  const message: Message = {
    heading: subject,
    sentences: [`Alerts and digests of ${isolate(application.name)} will arrive here.`],
    figures: [],
    comparedWith: [],
    link: alertsLink(application),
  };
  const notice = { id: `${TEST_PREFIX}${now}`, subject, message, now };
  await noticeEachChannel(db, application.id, notice, eq(channels.id, id));
}

/** The URL or email address that messages are sent to. Throws an error that says what to do if another secret encrypted it. */
export async function addressOf(
  { target, encryptedTarget }: Pick<Channel, 'target' | 'encryptedTarget'>,
  encryptionSecret: string,
): Promise<string> {
  if (encryptedTarget === null) return target;
  const address = await decryptText(encryptionSecret, encryptedTarget);
  if (address !== null) return address;
  throw new Error('The address was encrypted under another secret. Remove the channel and add it again');
}

/** Encrypts webhooks that an earlier version stored as they are. */
export async function encryptWebhooks(db: Database, encryptionSecret: string): Promise<void> {
  const plain = and(eq(channels.kind, 'webhook'), isNull(channels.encryptedTarget));
  const rows = await db.select().from(channels).where(plain).limit(MAX_ENCRYPTED);
  for (const { id, target } of rows) {
    await db
      .update(channels)
      .set(await hideTarget(target, encryptionSecret))
      .where(and(plain, eq(channels.id, id)));
  }
}
