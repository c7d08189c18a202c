import * as z from 'zod';
import { optionalNumber, optionalTextOrNumber } from '#lib/input/fields';
import { descriptive, identifier } from '#lib/input/leniency';
import { type EventKind, line } from '../kind.ts';
import { count, type OwnFields, optionalText, storedOfDevice } from '../stored.ts';
import { dayNumber, payload, wireForm } from '../wire.ts';

const MAX_SESSION_SECONDS = 7 * 86_400;

const Retention = storedOfDevice('retention', () => ({
  session_id: optionalText,
  /** The length is sent with a session's end. Start and end together count as one session. */
  session_seconds: count.optional(),
  session_end: z.literal(true).optional(),
  /** Sent as the start of a session rather than as a return, which may tell the same launch again. */
  session_start: z.literal(true).optional(),
  /** Days since acquisition, as counted for retention. */
  age: z.int().min(0),
  backfill_day: z.int().min(0).optional(),
}));
type Retention = z.infer<typeof Retention>;

const sessionId = identifier(optionalTextOrNumber());

const asRetention = wireForm(
  'retention',
  payload({
    retentionDay: dayNumber(),
    backfillDay: dayNumber(),
    session_id: descriptive(sessionId),
  }),
  {
    examples: { retention: { session_id: 'a3f1', retentionDay: '0' } },
    /** The reported day number is used if it differs by at most one from the number computed from the dates. */
    toStored({ retentionDay, backfillDay, session_id }, { retention_day }, age): OwnFields<Retention> {
      const reported = retentionDay ?? retention_day;
      const isPlausible = reported !== undefined && Math.abs(reported - age) <= 1;
      return { age: isPlausible ? reported : age, session_id, backfill_day: backfillDay };
    },
  },
);

const asSession = wireForm(
  'session',
  payload({
    /** Whether the session starts or ends. */
    a: descriptive(z.enum(['start', 'end'], { error: 'must be start or end' }).nullish()),
    /** The session's id. */
    sid: descriptive(sessionId),
    /** Its length in seconds, at its end. */
    sd: descriptive(optionalNumber(MAX_SESSION_SECONDS)),
  }),
  {
    examples: { session: { a: 'end', sid: 'a3f1', sd: 312 } },
    toStored({ a: phase, sid: session_id, sd }, _envelope, age): OwnFields<Retention> {
      if (phase !== 'end') return { age, session_id, session_start: true };
      return { age, session_id, session_end: true, session_seconds: sd && Math.round(sd) };
    },
  },
);

/** Repeats of a `session_id` from one device are one session; null if every event is its own. */
const sessionKey = ({ session_id, device_id }: Retention) =>
  session_id ? `s:${device_id}:${session_id}` : null;

/** Repeats of a session's end add its length only once; null without a `session_id` or if it is not an end. */
const sessionEndKey = ({ session_id, device_id, session_end }: Retention) =>
  session_id && session_end ? `se:${device_id}:${session_id}` : null;

/** What tells a launch besides its session's id; null for a return with one. */
function tellerOf({ session_id, session_start, session_end }: Retention): 'session' | 'return' | null {
  if (session_start || session_end) return 'session';
  return session_id ? null : 'return';
}

/** A device returned: a session, or an event that reports a return. */
export const retention = {
  type: 'retention',
  label: 'Session',
  description: 'A return of the device, optionally with its session.',
  subject: 'device',
  stored: Retention,
  wires: [asRetention, asSession],
  columns: [
    { name: 'retention_day', type: 'integer', field: 'age' },
    { name: 'backfill_day', type: 'integer' },
    { name: 'session_id', type: 'text' },
    { name: 'session_start', type: 'flag' },
    { name: 'session_end', type: 'flag' },
    { name: 'session_seconds', type: 'integer' },
  ],
  keepsKeys: false,
  steps: { retention: 'Session' },
  count(event, into) {
    const [session, end] = [sessionKey(event), sessionEndKey(event)];
    // An end without its start is still a session. Without an id, nothing links the two, so only the start counts.
    const isOwn = session ? into.isFirst(session) : !event.session_end;
    const teller = tellerOf(event);
    const isSession = isOwn && (teller === null || into.isNewLaunch(teller));
    const isFirstEnd = event.session_end === true && (!end || into.isFirst(end));
    const seconds = isFirstEnd ? event.session_seconds : undefined;
    if (isSession || seconds !== undefined) {
      into.addDaily({
        sessions: isSession ? 1 : 0,
        session_seconds: seconds ?? 0,
        ended_sessions: seconds === undefined ? 0 : 1,
      });
    }
  },
  stepOf: () => 'retention',
  outboundAs: ({ session_end }) => (session_end ? null : 'retention'),
  ageOf: ({ age }) => age,
  partKeys(event) {
    const [session, end] = [sessionKey(event), sessionEndKey(event)];
    return [...(session ? [session] : []), ...(end ? [end] : [])];
  },
  summarise({ session_end, session_seconds, retention_day }) {
    if (session_end !== true) return `day ${retention_day}`;
    return line('session end', session_seconds === undefined ? '' : `${session_seconds} s`);
  },
  toWire({ session_id, session_start, session_end, session_seconds, age, backfill_day }) {
    if (session_start) return { type: 'session', payload: { a: 'start', sid: session_id } };
    if (session_end) return { type: 'session', payload: { a: 'end', sid: session_id, sd: session_seconds } };
    return { type: 'retention', payload: { session_id, retentionDay: age, backfillDay: backfill_day } };
  },
} as const satisfies EventKind<Retention>;
