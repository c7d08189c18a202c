/**
 * The fields of log lines. Each has one name everywhere, so that lines can be joined by them: `event_id` and `request_id` also across
 * the queue. Never a body, a key or a token.
 */
export type LogFields = {
  request_id?: string | undefined;
  event_id?: string | undefined;
  message_id?: string;
  application_id?: string | undefined;
  team_id?: string | undefined;
  /** `<application id>:<shard>`. */
  counter?: string;
  /** Of the cron. */
  chore?: string;
  queue?: string;
  method?: string;
  /** Never a path, which may hold a token. */
  route?: string;
  status?: number;
  duration_ms?: number;
  /** Of an object in R2. */
  object_key?: string;
  /** Of rollup tables. */
  table?: string;
  alert_id?: string;
  channel_id?: string;
  attempt?: number;
  error?: string;
  /** How many of each there were. */
  messages?: number;
  events?: number;
  clicks?: number;
  /** Separated by spaces. */
  click_ids?: string;
  failed?: number;
  parked?: number;
  /** Of how many lines this is one that was kept. */
  sampled?: number;
};

type Level = 'info' | 'warn' | 'error';

const METHOD = { info: 'log', warn: 'warn', error: 'error' } as const;

/** One line of JSON, which Workers Logs index by its fields. */
export const logLine = (level: Level, message: string, fields: LogFields = {}): void =>
  console[METHOD[level]](JSON.stringify({ level, message, ...fields }));

/**
 * The error to tell of. Drizzle's own has the SQL with its parameters as its text, which may be anyone's data; its cause says what
 * went wrong.
 */
export const underlying = (error: unknown): unknown =>
  error instanceof Error && error.message.startsWith('Failed query:') && error.cause !== undefined
    ? underlying(error.cause)
    : error;

/** What failed and is tried again, or done without. */
export const logWarning = (message: string, error: unknown, fields: LogFields = {}): void =>
  logLine('warn', message, { ...fields, error: String(underlying(error)) });

/** What failed and needs someone's attention. */
export const logError = (message: string, error: unknown, fields: LogFields = {}): void =>
  logLine('error', message, { ...fields, error: String(underlying(error)) });
