/**
 * The fields of log lines. Each has the same name everywhere, so that lines can be joined by them; `event_id` and `request_id` are
 * also the same on both sides of the queue. Never includes a body, a key or a token.
 */
export type LogFields = {
  request_id?: string | undefined;
  event_id?: string | undefined;
  message_id?: string;
  application_id?: string | undefined;
  team_id?: string | undefined;
  /** `<application id>:<shard>`. */
  counter?: string;
  /** The cron's chore. */
  chore?: string;
  queue?: string;
  method?: string;
  /** The route's pattern, never the path, which may contain a token. */
  route?: string;
  status?: number;
  duration_ms?: number;
  /** The key of an object in R2. */
  object_key?: string;
  /** The name of a tool of assistants. */
  tool?: string;
  /** The name of a rollup table. */
  table?: string;
  alert_id?: string;
  channel_id?: string;
  destination_id?: string;
  attempt?: number;
  error?: string;
  /** How many messages there were. */
  messages?: number;
  events?: number;
  clicks?: number;
  /** Separated by spaces. */
  click_ids?: string;
  failed?: number;
  parked?: number;
  /** This line represents that many lines of its kind. */
  sampled?: number;
};

type LogLevel = 'info' | 'warn' | 'error';

const METHOD = { info: 'log', warn: 'warn', error: 'error' } as const;

/** Writes one line of JSON, whose fields Workers Logs indexes. */
export const logLine = (level: LogLevel, message: string, fields: LogFields = {}): void =>
  console[METHOD[level]](JSON.stringify({ level, message, ...fields }));

/**
 * The error to report. The message of a Drizzle error is the SQL with its parameters, which may be anyone's data; its cause says what
 * went wrong.
 */
export const underlying = (error: unknown): unknown =>
  error instanceof Error && error.message.startsWith('Failed query:') && error.cause !== undefined
    ? underlying(error.cause)
    : error;

/** Logs a failure that is retried or tolerated. */
export const logWarning = (message: string, error: unknown, fields: LogFields = {}): void =>
  logLine('warn', message, { ...fields, error: String(underlying(error)) });

/** Logs a failure that needs someone's attention. */
export const logError = (message: string, error: unknown, fields: LogFields = {}): void =>
  logLine('error', message, { ...fields, error: String(underlying(error)) });
