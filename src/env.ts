import * as z from 'zod';
import { secretsIn } from '#lib/crypto';
import { MAX_EVENT_QUEUES, numberOfBinding, queueBinding, queueIndex } from '#lib/event-queues';

/** Safe in a header name. */
export const SERVICE_NAME_FORM = /^[A-Za-z][A-Za-z0-9-]*$/;

/** A secret, or several separated by spaces while it is rotated: see `secretsIn`. */
const rotatable = () =>
  z
    .string()
    .refine(
      (text) => secretsIn(text).every((one) => one.length >= 32) && text.trim() !== '',
      'must have at least 32 characters',
    );

/** See `EVENT_QUEUES`. */
export const EventQueueCount = z.lazy(() =>
  z.coerce
    .number()
    .int()
    .min(1, 'must be at least 1')
    .max(MAX_EVENT_QUEUES, `must be at most ${MAX_EVENT_QUEUES}`)
    .default(1),
);

/** If one of these is invalid, nothing is answered. */
const REQUIRED = z.lazy(() =>
  z.object({
    /** Names the two credential headers: `<name>-api-key` and `<name>-Token`. */
    SERVICE_NAME: z.string().regex(SERVICE_NAME_FORM, 'must be usable in a header name').default('service'),
    /** How many of the event queues are sent to. Further ones that are bound are only consumed. */
    EVENT_QUEUES: EventQueueCount,
    /** What answers in the place of other people's services, on this machine: see `outboundFetch`. Only `npm start` sets it. */
    STAND_IN_URL: z
      .union([z.literal(''), z.string().regex(/^http:\/\/127\.0\.0\.1:\d+\//, 'must be on this machine')])
      .default(''),
    TOKEN_SECRET: rotatable(),
    KEY_ENCRYPTION_SECRET: rotatable(),
    SESSION_SECRET: rotatable(),
  }),
);

/** An invalid value of one of these counts as absent, so that it affects only what it is for. Health names it: see `invalidSettings`. */
const OPTIONAL = z.lazy(() =>
  z.object({
    /** The base URL of tracking links. Empty means `<origin>/t`. */
    TRACKING_BASE_URL: z.union([z.literal(''), z.url({ protocol: /^https?$/ })]).default(''),
    /** How long an event waits for others to share its message with, even if none is on its way: see `send/group-commit.ts`. */
    INGEST_LINGER_MS: z.coerce.number().int().min(0).max(1_000, 'must be at most 1000').default(0),
    TOKEN_TTL_DAYS: z.coerce.number().int().min(1).max(3650).default(400),
    /** How long a counter remembers idempotency keys after it accepted them. Keys of purchases are kept as long as raw events. */
    IDEMPOTENCY_DAYS: z.coerce.number().int().min(9, 'must be at least 9').max(3650).default(30),
    /** How long R2 keeps raw events, and counters the keys of purchases. The minimum covers redeliveries, which arrive within 8 days. */
    RAW_RETENTION_DAYS: z.coerce.number().int().min(10, 'must be at least 10').max(3650).default(400),
    /** A feed of daily reference rates in the European Central Bank's XML format. Empty disables it. */
    EXCHANGE_RATES_URL: z
      .union([z.literal(''), z.url({ protocol: /^https?$/ })])
      .default('https://www.ecb.europa.eu/stats/eurofxref/eurofxref-daily.xml'),
    /** A list of daily rates for the currencies that the feed above lacks: units per euro, as JSON. Empty disables it. */
    FURTHER_RATES_URL: z
      .union([z.literal(''), z.url({ protocol: /^https?$/ })])
      .default('https://cdn.jsdelivr.net/npm/@fawazahmed0/currency-api@latest/v1/currencies/eur.json'),
    /** The registered domain to which Apple's devices send postbacks, such as `example.com`: see docs/skadnetwork.md. Empty if it is unknown. */
    POSTBACK_DOMAIN: z.union([z.literal(''), z.hostname('must be a domain')]).default(''),
    /** The sender of alert and digest emails. Empty disables email. Also requires the `MAIL` binding. */
    MAIL_FROM: z.union([z.literal(''), z.email('must be an email address')]).default(''),
    /** The bearer token of `GET /metrics`. Empty switches it off. */
    METRICS_TOKEN: z.union([z.literal(''), rotatable()]).default(''),
    /** Whether destinations may be on this machine, by http: for trying them out. */
    OUTBOUND_LOCAL: z.stringbool({ error: 'must be true or false' }).default(false),
  }),
);

/** A deployment's variables and secrets, validated and with defaults applied. */
export type Settings = z.infer<typeof REQUIRED> & z.infer<typeof OPTIONAL>;

/** Of what decides when something is deleted, a mistyped value keeps it. */
const KEPT_IF_INVALID = { IDEMPOTENCY_DAYS: 3650, RAW_RETENTION_DAYS: 3650 };

type ParsedSettings = { settings: Settings; invalid: string[] };

const parsed = new WeakMap<object, ParsedSettings>();

const describeIssues = ({ issues }: z.ZodError): string[] =>
  issues.map((issue) => `${issue.path.join('.')} ${issue.message}`);

function parse(env: Env): ParsedSettings {
  const required = REQUIRED.safeParse(env);
  if (!required.success) {
    throw new Error(`The deployment is not configured: ${describeIssues(required.error).join('; ')}`);
  }
  const optional = OPTIONAL.safeParse(env);
  if (optional.success) return { settings: { ...required.data, ...optional.data }, invalid: [] };
  const wrong = new Set(optional.error.issues.map(({ path: [name] }) => name));
  const valid = Object.fromEntries(Object.entries(env).filter(([name]) => !wrong.has(name)));
  const kept = Object.fromEntries(Object.entries(KEPT_IF_INVALID).filter(([name]) => wrong.has(name)));
  return {
    settings: { ...required.data, ...OPTIONAL.parse({ ...valid, ...kept }) },
    invalid: describeIssues(optional.error),
  };
}

/** Parsed once per `env` object, so once per isolate. */
function parsedOf(env: Env): ParsedSettings {
  const known = parsed.get(env);
  if (known) return known;
  const result = parse(env);
  parsed.set(env, result);
  return result;
}

/** Throws an error that names the invalid variables without which the service cannot work, never their values. */
export const settingsOf = (env: Env): Settings => parsedOf(env).settings;

/** What is wrong with optional variables, by name and without their values. */
export const invalidSettings = (env: Env): readonly string[] => parsedOf(env).invalid;

/**
 * `fetch`, for requests to other people's services. If there is a stand-in for these, it gets the requests, with their address in the header
 * `Stand-In-For`: the services that `npm run simulate` connects to do not exist.
 */
export function outboundFetch(env: Env): (url: string, init: RequestInit) => Promise<Response> {
  const { STAND_IN_URL } = settingsOf(env);
  if (STAND_IN_URL === '') return (url, init) => fetch(url, init);
  return (url, init) => {
    const headers = new Headers(init.headers);
    headers.set('Stand-In-For', url);
    return fetch(STAND_IN_URL, { ...init, headers });
  };
}

/**
 * The id of the version of the Worker that is running, which no other version has; null if it is unknown. Locally, it is a new one on every
 * start and after every change.
 */
export const versionOf = (env: Partial<Pick<Env, 'CF_VERSION_METADATA'>>): string | null =>
  env.CF_VERSION_METADATA?.id || null;

/** A bound event queue. `number`: see `queueBinding`. */
export type EventQueue = { number: number; binding: string; queue: Queue };

/**
 * Every bound event queue, by number. Each may hold messages, also one that is no longer sent to because the number of queues was lowered.
 */
export function boundQueues(env: Pick<Env, 'EVENTS'>): EventQueue[] {
  return Object.entries(env)
    .flatMap(([binding, queue]) => {
      const number = numberOfBinding(binding);
      return number === null ? [] : { number, binding, queue: queue as Queue };
    })
    .sort((left, right) => left.number - right.number);
}

/** The bindings that `EVENT_QUEUES` requires but the deployment lacks. The other queues take their events. */
export function missingQueues(env: Env): string[] {
  const bound = new Set(boundQueues(env).map(({ number }) => number));
  return Array.from({ length: settingsOf(env).EVENT_QUEUES }, (_, number) => number)
    .filter((number) => !bound.has(number))
    .map(queueBinding);
}

const sentTo = new WeakMap<object, readonly Queue[]>();

/** The queues that events are sent to. Found once per `env` object, because every request asks. */
function queuesSentTo(env: Env): readonly Queue[] {
  let queues = sentTo.get(env);
  if (!queues) {
    const { EVENT_QUEUES } = settingsOf(env);
    queues = boundQueues(env).flatMap(({ number, queue }) => (number < EVENT_QUEUES ? queue : []));
    sentTo.set(env, queues);
  }
  return queues;
}

/** The queue for the events of an application's shard. */
export function queueFor(env: Env, applicationId: string, shard: number): Queue {
  const queues = queuesSentTo(env);
  return queues[queueIndex(applicationId, shard, queues.length)] ?? env.EVENTS;
}

/** The object that remembers for the whole deployment, also while the database does not respond. Its name stands in place of an application's. */
export const deploymentMemory = (env: Pick<Env, 'CREATIVES'>) => env.CREATIVES.getByName('deployment');
