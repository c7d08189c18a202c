import type { ClickRecord } from '#attribution';
import { type LoggedEvent, shardOf } from '#catalogue';
import { queueFor, settingsOf } from '#env';
import { type KeepAlive, unavailable } from '#http';
import { clickPart, type EventLine, eventLine, eventText, messageHead } from '../message.ts';
import { commit } from './group-commit.ts';
import { sendParts } from './send-parts.ts';

/** An application's shard, whose events go to the same queue. */
type CounterAddress = { applicationId: string; shard: number };

/**
 * Sends one event, perhaps in a message with those of other requests. Returns false if the queue did not accept it after three attempts within a
 * fraction of a second, or within the time limit. `head`: see `messageHead`.
 */
export function enqueueEvent(
  env: Env,
  keepAlive: KeepAlive,
  { applicationId, shard }: CounterAddress,
  head: string,
  text: string,
): Promise<boolean> {
  const queue = queueFor(env, applicationId, shard);
  const sent = commit(queue, head, eventLine(text), settingsOf(env).INGEST_LINGER_MS);
  keepAlive(sent);
  return sent;
}

/**
 * Sends a click for its row, with the event that counts it, if there is one, like `enqueueEvent`. Clicks have no device, so they go to the
 * queue of their application's first shard, which counts them. The consumer validates them, whatever its version.
 */
export function enqueueClick(
  env: Env,
  keepAlive: KeepAlive,
  click: ClickRecord,
  event?: LoggedEvent,
): Promise<boolean> {
  const { application_id: applicationId } = click;
  const [queue, head] = [queueFor(env, applicationId, 0), messageHead(applicationId, null, false)];
  const sent = commit(queue, head, clickPart(click, event), settingsOf(env).INGEST_LINGER_MS);
  keepAlive(sent);
  return sent;
}

/**
 * Sends an event that no client sent, like `enqueueEvent`. `creditOpen`: that of its device is not settled yet. The consumer validates it. Throws
 * `unavailable` if the queue does not accept it.
 */
export async function sendEvent(
  env: Env,
  keepAlive: KeepAlive,
  event: LoggedEvent,
  creditOpen: boolean,
): Promise<void> {
  const { application_id: applicationId } = event;
  const place = { applicationId, shard: shardOf(event) };
  const head = messageHead(applicationId, null, creditOpen);
  if (!(await enqueueEvent(env, keepAlive, place, head, eventText(event)))) throw unavailable();
}

/**
 * Sends many events of an application, each under its head and to the queue of its shard, in as few calls as the platform's limits allow. Returns
 * for each whether its queue accepted it.
 */
export async function enqueueEvents(
  env: Env,
  applicationId: string,
  events: readonly (EventLine & { shard: number; head: string })[],
): Promise<boolean[]> {
  const accepted = new Set<EventLine>();
  const note = (event: EventLine, isAccepted: boolean) => {
    if (isAccepted) accepted.add(event);
  };
  const sent = [...Map.groupBy(events, ({ head }) => head)].flatMap(([head, alike]) =>
    [...Map.groupBy(alike, ({ shard }) => queueFor(env, applicationId, shard))].map(([queue, lines]) =>
      sendParts(queue, head, lines, note),
    ),
  );
  await Promise.all(sent);
  return events.map((event) => accepted.has(event));
}
