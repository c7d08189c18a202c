import { and, desc, eq, gt, gte, lt, or, sql } from 'drizzle-orm';
import { routePath } from 'hono/route';
import { database, isAmong, rejections, teams } from '#db';
import type { DeviceResult } from '#devices';
import {
  ACCEPTED,
  type AppContext,
  type AppError,
  describeFaults,
  type Fault,
  HeldKinds,
  INGESTION_PATHS,
  type RequestSample,
  readAbsent,
} from '#http';
import { logWarning } from '#lib/log';
import { DAY_MS } from '#lib/time';
import type { ItemResult } from './accept-events.ts';

// Records refused requests for the debugger. Accepted requests are not involved. A refused one costs an entry in a map, which is written to
// the database after the answer: at once while there are few, batched while there are many. However many requests are refused, an isolate
// writes at most `PROMPT` + 1 times per `WINDOW_MS`, and once if no credential is valid, so a flood does not reach the database. Entries are
// lost if the isolate ends before they are written: they help people debug and need not be complete.

const KINDS_KEPT = 100;
const KEPT_DAYS = 14;
const PROMPT = 10;
const WINDOW_MS = 10_000;
/** Later rejections are collected for this long, once per window. */
const GATHER_MS = 300;
const MAX_ERROR_LENGTH = 300;
const MAX_VALUE_LENGTH = 80;

const held = new HeldKinds();
let window = { since: 0, prompt: 0, gathered: false };
let unknownFlushedAt = 0;

const short = (text: string, length: number) => (text.length > length ? `${text.slice(0, length)}…` : text);

/** Reads own properties only, because a caller may name a field `constructor`. */
function valueAt(body: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((at, key) => {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    return (at as Record<string, unknown>)[key];
  }, body);
}

function shownValue(path: string, value: unknown): string {
  if (/token|key|device_id|\bip$/i.test(path)) return value === undefined ? 'absent' : 'hidden';
  if (value === undefined) return 'absent';
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'a list' : 'an object';
  return short(JSON.stringify(value), MAX_VALUE_LENGTH);
}

function sampleOf(requestId: string, body: unknown, faults: readonly Fault[]): RequestSample {
  const type = valueAt(body, 'type');
  return {
    request_id: requestId,
    ...(typeof type === 'string' ? { type: short(type, MAX_VALUE_LENGTH) } : {}),
    values: faults
      .filter(({ path }) => path !== '')
      .slice(0, 10)
      .map(({ path }) => ({
        path: short(path, MAX_VALUE_LENGTH),
        value: shownValue(path, valueAt(body, path)),
      })),
  };
}

/** Whether a window has ended, also if the clock was set back since it began. */
const isOver = (since: number, now: number): boolean => Math.abs(now - since) >= WINDOW_MS;

function scheduleFlush(c: AppContext, now: number): void {
  if (isOver(window.since, now)) window = { since: now, prompt: 0, gathered: false };
  if (!c.get('application')) {
    if (!isOver(unknownFlushedAt, now)) return;
    unknownFlushedAt = now;
    c.executionCtx.waitUntil(held.flush(c.env.DB));
  } else if (window.prompt < PROMPT) {
    window.prompt++;
    c.executionCtx.waitUntil(held.flush(c.env.DB));
  } else if (!window.gathered) {
    window.gathered = true;
    const gathered = new Promise((resolve) => setTimeout(resolve, GATHER_MS));
    c.executionCtx.waitUntil(gathered.then(() => held.flush(c.env.DB)));
  }
}

async function bodyOf(c: AppContext, status: number): Promise<unknown> {
  // Before a 400, validation has already read the body, and Hono caches it.
  return status === 400 ? c.req.json().catch(() => undefined) : undefined;
}

/** Holds rejections, and writes them later. A failure to record must not turn an answer into an error. */
function noteQuietly(c: AppContext, note: (at: number) => void): void {
  const now = Date.now();
  try {
    note(now);
    scheduleFlush(c, now);
  } catch (error) {
    logWarning('rejection not noted', error);
  }
}

/** Records a refused request to an ingestion endpoint, or one that claims to be for an application, for its team to see. Never throws. */
export async function noteRejection(c: AppContext, error: AppError, status: number): Promise<void> {
  const isSomebodys = c.get('application') || c.get('claimedApplicationId') !== undefined;
  if (!INGESTION_PATHS.has(c.req.path) && !isSomebodys) return;
  const body = await bodyOf(c, status);
  noteQuietly(c, (at) => {
    const credential = [...c.req.raw.headers.keys()].some((name) => name.endsWith('-api-key'));
    const unauthenticated = credential ? 'Unknown API key' : 'No API key header';
    const text = error.details.length > 0 ? describeFaults(error.details) : error.message;
    const isOfKey = error.code === 'unauthenticated' && INGESTION_PATHS.has(c.req.path);
    held.hold({
      applicationId: c.get('application')?.id ?? c.get('claimedApplicationId') ?? '',
      // The pattern, because a path may contain a secret.
      endpoint: `${c.req.method} ${routePath(c, -1)}`,
      status,
      error: short(isOfKey ? unauthenticated : text, MAX_ERROR_LENGTH),
      at,
      sample: sampleOf(c.get('requestId'), body, error.details),
    });
  });
}

type Results = readonly (ItemResult | DeviceResult)[];

/** Records the refused items of an accepted batch. Never throws. */
export function noteRejectedItems(c: AppContext, items: unknown[], results: Results): void {
  noteQuietly(c, (at) => {
    for (const result of results) {
      if (!('error' in result)) continue;
      const { error, details, index } = result;
      held.hold({
        applicationId: c.get('application').id,
        endpoint: `${c.req.method} ${c.req.path}`,
        status: 400,
        error: short(details.length > 0 ? describeFaults(details) : error, MAX_ERROR_LENGTH),
        at,
        sample: sampleOf(c.get('requestId'), items[index], details),
      });
    }
  });
}

/** Keeps the table small: deletes old rows and, of refused and of accepted requests, all but the newest kinds of each application. */
export async function pruneRejections(d1: D1Database, now: number): Promise<void> {
  const db = database(d1);
  const { applicationId, endpoint, status, error, lastAt } = rejections;
  const isAccepted = eq(status, ACCEPTED);
  const place = sql<number>`row_number() OVER (PARTITION BY ${applicationId}, ${isAccepted} ORDER BY ${lastAt} DESC)`;
  const placed = db
    .select({ applicationId, endpoint, status, error, place: place.as('place') })
    .from(rejections)
    .as('placed');
  const beyond = db
    .select({
      applicationId: placed.applicationId,
      endpoint: placed.endpoint,
      status: placed.status,
      error: placed.error,
    })
    .from(placed)
    .where(gt(placed.place, KINDS_KEPT));
  await db
    .delete(rejections)
    .where(
      or(
        lt(lastAt, now - KEPT_DAYS * DAY_MS),
        sql`(${applicationId}, ${endpoint}, ${status}, ${error}) IN ${beyond}`,
      ),
    );
}

/**
 * The refused requests of an application, newest first. Requests without a valid key belong to no team, so they are shown only if the
 * deployment has a single team.
 */
export async function listRejections(d1: D1Database, applicationId: string) {
  const unclaimed = and(eq(rejections.applicationId, ''), sql`(SELECT count(*) FROM ${teams}) = 1`);
  const rows = await database(d1)
    .select()
    .from(rejections)
    .where(and(gte(rejections.status, 400), or(eq(rejections.applicationId, applicationId), unclaimed)))
    .orderBy(desc(rejections.lastAt))
    .limit(KINDS_KEPT);
  return rows.map((row) => ({ ...row, sample: JSON.parse(row.sample) as RequestSample }));
}

/** A field of an application in which placeholders came instead of identifiers or names. Times are epoch milliseconds. */
export type AbsentField = Fault & { applicationId: string; endpoint: string; count: number; lastAt: number };

/** The placeholders of the last two weeks that some applications sent, the most frequent first. */
export async function listAbsentFields(
  d1: D1Database,
  applicationIds: readonly string[],
): Promise<AbsentField[]> {
  const { applicationId, endpoint, error, count, lastAt, status } = rejections;
  const rows = await database(d1)
    .select({ applicationId, endpoint, error, count, lastAt })
    .from(rejections)
    .where(and(eq(status, ACCEPTED), isAmong(applicationId, applicationIds)))
    .orderBy(desc(count));
  return rows.map(({ error: noted, ...row }) => ({ ...row, ...readAbsent(noted) }));
}
