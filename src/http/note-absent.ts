import type { Context } from 'hono';
import { routePath } from 'hono/route';
import type { Fault } from '#lib/input/fields';
import { COUNTED_AS_ABSENT, isOfPlaceholder } from '#lib/input/placeholder';
import { logWarning } from '#lib/log';
import { HeldKinds } from './held-kinds.ts';

// Placeholders in the place of identifiers and names are counted for Health, by application, endpoint and field. A request without any costs
// nothing. The others cost an entry in a map, which is written after the answer: an isolate writes once per `GATHER_MS`, or `BUSY_MS` while
// there are many.

const GATHER_MS = 300;
const BUSY_MS = 3_000;

/** The status under which they are kept beside refused requests: these were accepted. */
export const ACCEPTED = 200;

const held = new HeldKinds();
let scheduled = false;
let flushedAt = Number.NEGATIVE_INFINITY;

function scheduleFlush(c: Context, now: number): void {
  if (scheduled) return;
  scheduled = true;
  const delay = Math.abs(now - flushedAt) < BUSY_MS ? BUSY_MS : GATHER_MS;
  const flush = async () => {
    await new Promise((resolve) => setTimeout(resolve, delay));
    scheduled = false;
    flushedAt = Date.now();
    await held.flush(c.env.DB);
  };
  c.executionCtx.waitUntil(flush());
}

const isOfAbsent = ({ message }: Fault): boolean =>
  message.endsWith(COUNTED_AS_ABSENT) || isOfPlaceholder(message);

/** Between a field and what is said of it. */
const SEPARATOR = ': ';

/** Notes which identifiers and names of a request were counted as absent. Never throws. */
export function noteAbsent(c: Context, applicationId: string, warnings: readonly Fault[] = []): void {
  const absent = warnings.filter(isOfAbsent);
  if (absent.length === 0) return;
  const now = Date.now();
  try {
    for (const { path, message } of absent) {
      held.hold({
        applicationId,
        // The pattern, because a path may contain a secret.
        endpoint: `${c.req.method} ${routePath(c, -1)}`,
        status: ACCEPTED,
        error: `${path}${SEPARATOR}${message}`,
        at: now,
        sample: { request_id: c.get('requestId'), values: [] },
      });
    }
    scheduleFlush(c, now);
  } catch (error) {
    logWarning('placeholder not noted', error);
  }
}

/** A noted text as the field and what was said of it. */
export function readAbsent(noted: string): Fault {
  const [path = '', ...message] = noted.split(SEPARATOR);
  return { path, message: message.join(SEPARATOR) };
}
