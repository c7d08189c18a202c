import { and, eq, gt, inArray, or, sql } from 'drizzle-orm';
import { kindOf, type LoggedEvent } from '#catalogue';
import {
  type AppendedStatus,
  type CounterBindings,
  counterOf,
  countersOf,
  type ShardedApplication,
  settleCounters,
  shardNumbers,
} from '#counting';
import { applications, database, parkedMessages } from '#db';
import { AppError } from '#http';
import { MissingFileError, readEvents, type StoredEvent } from '#lake';
import { chunksOf } from '#lib/collections/chunks';
import { idTime, isId } from '#lib/ids';
import { iso } from '#lib/time';
import { wholeBody } from '#rollup';
import type { EventStatus } from './answers.ts';
import { showEvent } from './list-events.ts';
import { ASKED_AT_ONCE, type EventBindings, missingFiles, withoutErased } from './read-events.ts';

/** How long the platform keeps an undelivered message. Source: Cloudflare's documentation of Queues, "Limits". */
const LONGEST_ON_ITS_WAY_MS = 4 * 86_400_000;
/** The allowed difference between the clocks of two machines. */
const CLOCK_SKEW_MS = 5_000;
const MAX_ATTEMPTS = 3;

const notFound = () => new AppError('not_found', 'Event not found');

/**
 * The status of an event: `queued` (in the queue or waiting to be counted), `counted`, `duplicate` (a repeat of a counted event), `ignored`
 * (accepted but not counted) or `parked`; the last two with the reason. An unknown id is `queued` for as long as a queue can hold an event,
 * so another team's event looks the same as an invented id. Throws `not_found` after that, and for an event that was erased with its device.
 *
 * Asks every counter of the team, or only those of `applicationId`. A waiting event is counted first.
 */
export async function eventStatus(
  env: Pick<Env, 'DB' | 'COUNTERS' | 'EVENTS' | 'RAW_EVENTS'>,
  teamId: string,
  id: string,
  now: number,
  applicationId?: string,
): Promise<EventStatus> {
  if (!isId('evt', id)) throw notFound();
  const base = { event_id: id, received_at: iso(idTime(id)) };
  const db = database(env.DB);
  const ofTeam = eq(applications.teamId, teamId);
  const [aside] = await db
    .select({ reason: parkedMessages.reason, parkedAt: parkedMessages.parkedAt })
    .from(parkedMessages)
    .where(
      and(
        inArray(
          parkedMessages.applicationId,
          db.select({ id: applications.id }).from(applications).where(ofTeam),
        ),
        // Counting parks an event under its id. A message that never reached a counter contains it anywhere.
        or(eq(parkedMessages.id, id.replace('evt_', 'prk_')), gt(sql`instr(${wholeBody}, ${id})`, 0)),
      ),
    )
    .limit(1);
  if (aside) return { ...base, status: 'parked', settled_by: iso(aside.parkedAt), reason: aside.reason };
  const own = await db
    .select({ id: applications.id, shards: applications.shards })
    .from(applications)
    .where(ofTeam);
  const counters = own
    .filter((application) => applicationId === undefined || application.id === applicationId)
    .flatMap((owner) => shardNumbers(owner.shards).map((shard) => ({ owner, shard })));
  for (const group of chunksOf(counters, ASKED_AT_ONCE)) {
    const answers = await Promise.all(
      group.map(async ({ owner, shard }) => {
        const find = () => findIn(env, owner, shard, id);
        let found = await find();
        if (found?.status === 'queued') {
          await settleCounters(env, owner);
          found = await find();
        }
        return found && { ...base, application_id: owner.id, ...found };
      }),
    );
    const status = answers.find((answer) => answer !== null);
    if (status) return status;
  }
  const age = now - idTime(id);
  if (age > LONGEST_ON_ITS_WAY_MS || age < -CLOCK_SKEW_MS) throw notFound();
  return { ...base, status: 'queued' };
}

type FoundStatus = Omit<EventStatus, 'event_id' | 'received_at' | 'application_id'>;

/** Returns null if a counter does not know the event. Throws `not_found` if it was erased. */
async function findIn(
  env: EventBindings,
  application: ShardedApplication,
  shard: number,
  id: string,
): Promise<FoundStatus | null> {
  let gone: ReadonlySet<string> = new Set();
  for (let attempt = 1; ; attempt++) {
    const counter = counterOf(env, application.id, shard);
    const found = await counter.eventStatus(id);
    if (!found) return null;
    if (found.status === 'erased') throw notFound();
    if (found.status !== 'exported')
      return { ...hotStatus(found), ...(await remarks(env, application, counter, found)) };
    const files = found.files.filter(({ key }) => !gone.has(key));
    try {
      const page = await readEvents(env.RAW_EVENTS, files, { eventId: id }, { limit: 1, cursor: '' });
      const [event] = await withoutErased(env, { applicationId: application.id }, page.events);
      if (event) {
        const exportedAt = Math.max(...found.files.map((file) => file.exportedAt));
        const status = exportedStatus(event, exportedAt);
        const { status: outcome } = status;
        return { ...status, ...(await remarks(env, application, counter, { status: outcome, event })) };
      }
      // In a file that is still to be rewritten, an erased event is found and left out.
      if (found.wasTaken || page.events.length > 0) throw notFound();
      return null;
    } catch (error) {
      // The file was replaced after the index was read, or is gone.
      if (!(error instanceof MissingFileError) || attempt === MAX_ATTEMPTS) throw error;
      if (attempt > 1) gone = await missingFiles(env, files);
    }
  }
}

type Asked = { status: FoundStatus['status']; event: LoggedEvent | null };
type AskedCounter = ReturnType<typeof counterOf>;

/** What an answer adds for a counted event that deserves a look. */
async function remarks(
  env: CounterBindings,
  application: ShardedApplication,
  counter: AskedCounter,
  asked: Asked,
): Promise<Pick<FoundStatus, 'waits_for_purchase' | 'implausible_amount'>> {
  const { status, event } = asked;
  if (status !== 'counted' || event === null) return {};
  const [waits, isImplausible] = await Promise.all([
    waiting(env, application, counter, asked),
    kindOf(event).amountOf !== undefined && counter.countsImplausibly(event),
  ]);
  return { ...waits, ...(isImplausible ? { implausible_amount: true } : {}) };
}

/** Of a counted event that waits for its purchase. */
async function waiting(
  env: CounterBindings,
  { id, shards }: ShardedApplication,
  counter: AskedCounter,
  { status, event }: Asked,
): Promise<Pick<FoundStatus, 'waits_for_purchase'>> {
  if (status !== 'counted' || event?.type !== 'custom.purchase') return {};
  if (!(await counter.isWaiting(event))) return {};
  // The counter of the purchase has taken the refund over.
  const known = await Promise.all(
    countersOf(env, id, shards).map((other) => other.knownPurchases([event.tr_id ?? ''])),
  );
  return known.some((ids) => ids.length > 0) ? {} : { waits_for_purchase: true };
}

function hotStatus(found: Exclude<AppendedStatus, { status: 'erased' | 'exported' }>): FoundStatus {
  const { status, appendedAt, event } = found;
  const logged = { logged_at: iso(appendedAt), ...(event ? { event: showEvent(event) } : {}) };
  if (status === 'queued') return { ...logged, status };
  const { reason, duplicate_of } = found.result;
  return {
    ...logged,
    status,
    settled_by: iso(found.countedBy),
    ...(reason ? { reason } : {}),
    ...(duplicate_of ? { duplicate_of } : {}),
  };
}

function exportedStatus(event: StoredEvent, exportedAt: number): FoundStatus {
  const { outcome, reason, duplicate_of } = event;
  return {
    status: outcome ?? 'counted',
    settled_by: iso(exportedAt),
    ...(reason ? { reason } : {}),
    ...(duplicate_of ? { duplicate_of } : {}),
    event: showEvent(event),
  };
}
