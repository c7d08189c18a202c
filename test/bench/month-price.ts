import { PRICE } from './price.ts';

// What a month of an application costs on the Workers Paid plan, with everything that is billed and what the plan includes.

/** Dollars a month, which include the usage below. Source: Cloudflare's price lists. */
const PLAN = 5;
const INCLUDED = {
  requests: 10e6,
  cpuMilliseconds: 30e6,
  queueOperations: 1e6,
  /** Of D1 and of objects each. */
  rows: 50e6,
  objectCalls: 1e6,
  objectGbSeconds: 400_000,
  fileWrites: 1e6,
  logLines: 20e6,
  gb: { d1: 5, object: 5, file: 10 },
};
const DAYS = 30;
const DAY_SECONDS = 86_400;
const OBJECT_GB = 0.128;
/** A queue hands out a batch after 2 s or 100 messages. */
const BATCH_SECONDS = 2;
const BATCH_MESSAGES = 100;
const QUEUE_OPERATIONS = 3;
/** Queue operations are per 64 KB; an event takes some 900 bytes of its message. */
const EVENTS_PER_OPERATION = 71;
/** One event of 400 is from a new device, which five clicks were made for. */
const EVENTS_PER_INSTALL = 400;
const CLICKS_PER_INSTALL = 5;
/** Rows of D1 and of the counter for a `/fetch-token`, as the HTTP part measures them, and of a click with its deletion. */
const TOKEN_ROWS = 4;
const CLICK_ROWS = 2;
/** Setting and deleting the alarm of a run. */
const ALARM_ROWS = 2;
/** Milliseconds of a request before its queue, on the safe side of what the HTTP part measures. */
const REQUEST_CPU = 0.25;

/** How long the queue takes to accept a message, in seconds: assumed. */
const SEND_SECONDS = 0.03;

/**
 * How many events of requests with one event share a message, in one isolate: those that arrive, at random, while another message is on its way,
 * and if none does, the next one alone.
 */
export const eventsPerMessage = (perSecond: number, sendSeconds: number): number =>
  perSecond * sendSeconds + Math.exp(-perSecond * sendSeconds);

/** What was measured per event, for a share of the day. */
export type Measured = {
  rows: { d1: number; object: number };
  cpuMilliseconds: number;
  logLines: number;
  files: number;
  bytes: { d1: number; object: number; file: number };
  runsPerDay: number;
};

/**
 * Dollars of a month: in total, and for what exceeds the plan. `isShared`: whether requests share messages, as if one isolate took them all, evenly
 * over the day.
 */
export function priceOfAMonth(
  eventsPerDay: number,
  eventsPerRequest: number,
  measured: Measured,
  isShared = false,
): Record<string, number> {
  const events = eventsPerDay * DAYS;
  const installs = events / EVENTS_PER_INSTALL;
  const clicks = installs * CLICKS_PER_INSTALL;
  const requests = events / eventsPerRequest + installs + clicks;
  const perMessage = isShared
    ? eventsPerMessage(eventsPerDay / eventsPerRequest / DAY_SECONDS, SEND_SECONDS) * eventsPerRequest
    : eventsPerRequest;
  const messages = events / Math.min(perMessage, EVENTS_PER_OPERATION) + installs + clicks;
  const batches = Math.max(
    Math.min(messages, (DAYS * DAY_SECONDS) / BATCH_SECONDS),
    messages / BATCH_MESSAGES,
  );
  const runs = measured.runsPerDay * DAYS;
  const beyond = (used: number, included: number) => Math.max(0, used - included);
  const million = (used: number, included: number, price: number) => (beyond(used, included) / 1e6) * price;
  const stored = (store: 'd1' | 'object' | 'file') =>
    beyond((measured.bytes[store] * events) / 1e9, INCLUDED.gb[store]) * PRICE.gbMonth[store];
  const parts = {
    plan: PLAN,
    requests: million(requests, INCLUDED.requests, PRICE.request),
    cpu: million(
      requests * REQUEST_CPU + events * measured.cpuMilliseconds,
      INCLUDED.cpuMilliseconds,
      PRICE.cpuMillisecond,
    ),
    queue: million(messages * QUEUE_OPERATIONS, INCLUDED.queueOperations, PRICE.queueOperation),
    rows_in_d1: million(
      events * measured.rows.d1 + installs * TOKEN_ROWS + clicks * CLICK_ROWS,
      INCLUDED.rows,
      PRICE.rowWritten,
    ),
    rows_in_objects: million(
      events * measured.rows.object + runs * ALARM_ROWS,
      INCLUDED.rows,
      PRICE.rowWritten,
    ),
    object_calls: million(batches + 2 * runs + installs, INCLUDED.objectCalls, PRICE.objectCall),
    object_time: million(OBJECT_GB * DAY_SECONDS * DAYS, INCLUDED.objectGbSeconds, PRICE.objectGbSecond),
    files: million(events * measured.files, INCLUDED.fileWrites, PRICE.fileWrite),
    storage: stored('d1') + stored('object') + stored('file'),
    logs: million(events * measured.logLines, INCLUDED.logLines, PRICE.logLine),
  };
  return { total: Object.values(parts).reduce((sum, part) => sum + part, 0), ...parts };
}
