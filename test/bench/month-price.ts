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
/** Of the cron, which calls the object of the deployment three times a minute, and writes a row there and two in D1. */
const MINUTE_CALLS = 3;
const MINUTE_ROWS = { d1: 2, object: 1 };
const MINUTES = (DAYS * DAY_SECONDS) / 60;
/** Rows of a delivery to a destination, which logs what its receiver answered; its CPU milliseconds, on the safe side of what `deliveries` measures. */
const DELIVERY_ROWS = 3;
const DELIVERY_CPU = 0.5;
/** Until the second year: how long rollups and raw events were kept by then. */
const SECOND_YEAR_MONTHS = 400 / 30;
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

/** What differs from the first month of an application without destinations, of which each request has a message of its own. */
export type More = {
  /** Whether requests share messages, as if one isolate took them all, evenly over the day. */
  isShared?: boolean;
  /** How many destinations get each event. */
  destinations?: number;
  isSecondYear?: boolean;
};

/** Dollars of a month: in total, and for what exceeds the plan. */
export function priceOfAMonth(
  eventsPerDay: number,
  eventsPerRequest: number,
  measured: Measured,
  { isShared = false, destinations = 0, isSecondYear = false }: More = {},
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
  // A counter keeps its log for a month.
  const months = {
    d1: isSecondYear ? SECOND_YEAR_MONTHS : 1,
    object: 1,
    file: isSecondYear ? SECOND_YEAR_MONTHS : 1,
  };
  const stored = (store: 'd1' | 'object' | 'file') =>
    beyond((months[store] * measured.bytes[store] * events) / 1e9, INCLUDED.gb[store]) * PRICE.gbMonth[store];
  const deliveries = events * destinations;
  const parts = {
    plan: PLAN,
    requests: million(requests, INCLUDED.requests, PRICE.request),
    cpu: million(
      requests * REQUEST_CPU + events * measured.cpuMilliseconds + deliveries * DELIVERY_CPU,
      INCLUDED.cpuMilliseconds,
      PRICE.cpuMillisecond,
    ),
    queue: million(messages * QUEUE_OPERATIONS, INCLUDED.queueOperations, PRICE.queueOperation),
    rows_in_d1: million(
      events * measured.rows.d1 + installs * TOKEN_ROWS + clicks * CLICK_ROWS + MINUTES * MINUTE_ROWS.d1,
      INCLUDED.rows,
      PRICE.rowWritten,
    ),
    rows_in_objects: million(
      events * measured.rows.object +
        runs * ALARM_ROWS +
        deliveries * DELIVERY_ROWS +
        MINUTES * MINUTE_ROWS.object,
      INCLUDED.rows,
      PRICE.rowWritten,
    ),
    object_calls: million(
      batches + 2 * runs + installs + MINUTES * MINUTE_CALLS,
      INCLUDED.objectCalls,
      PRICE.objectCall,
    ),
    object_time: million(OBJECT_GB * DAY_SECONDS * DAYS, INCLUDED.objectGbSeconds, PRICE.objectGbSecond),
    files: million(events * measured.files, INCLUDED.fileWrites, PRICE.fileWrite),
    storage: stored('d1') + stored('object') + stored('file'),
    logs: million(events * measured.logLines, INCLUDED.logLines, PRICE.logLine),
  };
  return { total: Object.values(parts).reduce((sum, part) => sum + part, 0), ...parts };
}
