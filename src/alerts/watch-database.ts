import { and, eq, isNull } from 'drizzle-orm';
import { alerts, applications, channels, database } from '#db';
import { deploymentMemory } from '#env';
import { isolate } from '#lib/input/isolate';
import { logError } from '#lib/log';
import { iso } from '#lib/time';
import { withTimeout } from '#lib/timeout';
import type { Channel } from './channels.ts';
import { alertsLink, type Message } from './message.ts';
import { sendTo } from './send.ts';

// Alerts are in the database, so one on the database itself goes out from what an object of its own remembers: the channels of the alerts on the
// problems that Health shows.

const TIMEOUT_MS = 5_000;

/** What is needed to tell a channel, without the database. */
type Remembered = Pick<Channel, 'id' | 'kind' | 'target' | 'encryptedTarget' | 'origin'> & {
  application: { id: string; name: string };
};

async function readChannels(env: Env): Promise<Record<string, string>> {
  const rows = await database(env.DB)
    .selectDistinct({
      id: channels.id,
      kind: channels.kind,
      target: channels.target,
      encryptedTarget: channels.encryptedTarget,
      origin: channels.origin,
      application: { id: applications.id, name: applications.name },
    })
    .from(channels)
    .innerJoin(applications, eq(applications.id, channels.applicationId))
    .innerJoin(alerts, eq(alerts.applicationId, channels.applicationId))
    .where(and(eq(alerts.kind, 'service_problems'), isNull(alerts.offSince)));
  return Object.fromEntries(rows.map((row: Remembered) => [row.id, JSON.stringify(row)]));
}

function messageOf({ application }: Remembered, state: 'fired' | 'resolved', since: number): Message {
  const word = state === 'fired' ? 'Alert' : 'Resolved';
  const sentence =
    state === 'fired'
      ? `The database has not responded since ${iso(since)}. Events are accepted and wait; reports and the dashboard fail. See docs/operations.md#the-database-does-not-respond.`
      : `The database responds again. It did not since ${iso(since)}.`;
  return {
    heading: `${isolate(application.name)} · ${word}: The database does not respond`,
    sentences: [sentence],
    figures: [],
    comparedWith: [],
    link: alertsLink(application),
  };
}

/**
 * Tells the channels that watch Health, once, if the database has not responded for three minutes, and once when it does again. A channel that cannot be
 * reached is tried again each minute.
 */
export async function watchDatabase(env: Env, now: number): Promise<void> {
  const channels = await withTimeout(readChannels(env), TIMEOUT_MS).catch(() => null);
  const memory = deploymentMemory(env);
  const toTell = await memory.noteDatabase(channels, now);
  if (!toTell) return;
  const { state, since } = toTell;
  const told = await Promise.all(
    Object.values(toTell.channels).map(async (text) => {
      const remembered: Remembered = JSON.parse(text);
      const message = messageOf(remembered, state, since);
      try {
        await sendTo(env, remembered, message.heading, message);
        return [remembered.id];
      } catch (error) {
        logError('outage not told', error, { channel_id: remembered.id });
        return [];
      }
    }),
  );
  await memory.noteTold(state, told.flat());
}
