/** The fields of log lines; each has one name everywhere, so that lines can be joined by them. Never a body, a key or a token. */
export type LogFields = {
  request_id?: string;
  event_id?: string;
  message_id?: string;
  application_id?: string;
  team_id?: string;
  /** `<application id>:<shard>`. */
  counter?: string;
  chore?: string;
  queue?: string;
  route?: string;
  object_key?: string;
  attempt?: number;
  [count: string]: string | number | boolean | null | undefined;
};

const write = (level: 'info' | 'warn' | 'error', message: string, fields: LogFields) =>
  console[level === 'info' ? 'log' : level](JSON.stringify({ level, message, ...fields }));

/** What came out of the ordinary, without harm. */
export const logInfo = (message: string, fields: LogFields = {}): void => write('info', message, fields);

/** What failed and is tried again, or was done without. */
export const logWarning = (message: string, error: unknown, fields: LogFields = {}): void =>
  write('warn', message, { ...fields, error: String(error) });

/** What failed and needs someone's attention. */
export const logError = (message: string, error: unknown, fields: LogFields = {}): void =>
  write('error', message, { ...fields, error: String(error) });
