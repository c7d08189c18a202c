import * as z from 'zod';
import { exactJsonOrNull } from '#lib/encoding/exact-json';
import { JsonRows, type JsonRowsOptions } from '#lib/encoding/json-rows';
import { toCountryCode } from '#lib/input/country';
import { nanosOf } from '#lib/money';
import type { IdAndName } from '../id-and-name.ts';

// What a network reports of an advertiser's spend. Pure: a report is a generator that asks with requests, is given their answers, and returns rows.
// Whoever runs it sends, waits, and stores.

export type CostRequest = {
  url: string;
  method?: 'GET' | 'POST';
  headers?: Readonly<Record<string, string>>;
  body?: string;
  /** How long to wait before it is sent. */
  afterSeconds?: number;
  /**
   * Makes what reads an answer of the status 200 as it arrives; `text` is empty then. It is made anew if the request is sent again. It may throw, which
   * ends the report.
   */
  reader?: () => { add: (text: string) => void };
};

/** The most rows that a report may have. */
export const MAX_COST_ROWS = 50_000;

/** `retryAfterSeconds` is what the header `Retry-After` asks for. */
export type CostAnswer = { status: number; text: string; retryAfterSeconds: number | null };

/** Spend of a day. Ids are text: they exceed 2^53. A dimension that the network does not tell is empty. */
export type CostRow = {
  network: string;
  /** In the time zone of the account. */
  date: string;
  campaign: IdAndName;
  adset: IdAndName | null;
  ad: IdAndName | null;
  country: string;
  os: string;
  /** In lower case. */
  currency: string;
  /** In billionths. */
  nanos: bigint;
  impressions: number | null;
  clicks: number | null;
};

/** Null is what the network does not tell. */
export type CostAccount = { currency: string | null; timezone: string | null };

/** What a report needs when it continues after waiting. */
type CostState = Readonly<Record<string, string>>;

/**
 * The rows of all days asked for, or how long to wait before the report is read on with `state`. `expiresAt`: when the credentials end, in epoch
 * milliseconds; null if they do not, or nobody tells.
 */
export type CostOutcome =
  | { rows: CostRow[]; account: CostAccount; expiresAt: number | null }
  | { waitSeconds: number; state: CostState };

export type CostRun = Generator<CostRequest, CostOutcome, CostAnswer>;

type CostQuestion = {
  settings: Readonly<Record<string, string>>;
  credentials: Readonly<Record<string, string>>;
  from: string;
  to: string;
  /** Null for a new report. */
  state: CostState | null;
};

/** What is known of a report besides how it is read. */
export type ReportDescription = {
  label: string;
  settings: z.ZodObject<Record<string, z.ZodType<string>>>;
  credentials: z.ZodObject<Record<string, z.ZodType<string>>>;
  /** What a person reads beside each field. */
  labels: Readonly<Record<string, string>>;
  /** Where the names of settings and credentials are found, and what is worth knowing. */
  notes: readonly string[];
  /** What is not confirmed by the network's own documentation or a test. */
  unverified: readonly string[];
  sources: readonly string[];
  /** How many days back it reaches. */
  maxDaysBack: number;
};

export type CostReport = ReportDescription & {
  /** Throws a `ReportFault` with what the network says is wrong. */
  read: (question: CostQuestion) => CostRun;
};

const MAX_REASON = 200;

/** Why a report could not be read, without any secret. `retryAfterSeconds`: when the network may be asked again; null if it does not say. */
export class ReportFault extends Error {
  override name = 'ReportFault';
  readonly retryAfterSeconds: number | null;

  constructor(message: string, retryAfterSeconds: number | null = null) {
    super(message);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** What somebody answered, in one short line. */
export const shortened = (text: string): string => text.replaceAll(/\s+/g, ' ').trim().slice(0, MAX_REASON);

export function refusal(who: string, { status, text, retryAfterSeconds }: CostAnswer): ReportFault {
  const said = shortened(text);
  return new ReportFault(`${who} answered ${status}${said === '' ? '' : `: ${said}`}`, retryAfterSeconds);
}

/** The JSON of an answer, in which integers beyond 2^53 are text. Null if it is none. */
export const jsonOf = ({ text }: CostAnswer): unknown => exactJsonOrNull(text);

/** An answer's JSON by its schema. Throws a `ReportFault` if it is something else. */
export function readAs<Schema extends z.ZodType>(
  who: string,
  schema: Schema,
  json: unknown,
  within = '',
): z.infer<Schema> {
  const read = schema.safeParse(json);
  if (read.success) return read.data;
  const at = [within, ...(read.error.issues[0]?.path ?? [])].filter((part) => part !== '').join('.');
  throw new ReportFault(
    `${who} answered something else than its documentation says${at ? `, at ${at}` : ''}`,
  );
}

/** The setting by which only some campaigns of an account are read. */
export const CAMPAIGN_FILTER = 'campaign_contains';

/** The rows of a report that its settings ask for. Throws a `ReportFault` as soon as there are too many. */
export class CostRows {
  readonly rows: CostRow[] = [];
  readonly #contains: string;

  constructor(settings: Readonly<Record<string, string>>) {
    this.#contains = (settings[CAMPAIGN_FILTER] ?? '').toLowerCase();
  }

  add(row: CostRow): void {
    if (!row.campaign.name.toLowerCase().includes(this.#contains)) return;
    if (this.rows.length === MAX_COST_ROWS) {
      throw new ReportFault(`the report has more than ${MAX_COST_ROWS} rows`);
    }
    this.rows.push(row);
  }

  /** Forgets what was read of an answer that is read again. */
  keep(count: number): void {
    this.rows.length = count;
  }
}

/**
 * A request whose answer has rows, which are passed on one by one as they arrive. What the answer says when its status is not 200 is in its text. `end`
 * is called with an answer of 200, and throws a `ReportFault` if it was not read to its end.
 */
export function readingRows<Schema extends z.ZodType>(
  who: string,
  request: CostRequest,
  {
    row,
    into,
    take,
    ...options
  }: JsonRowsOptions & {
    row: Schema;
    into: CostRows;
    take: (row: z.infer<Schema>) => CostRow;
  },
): { request: CostRequest; end: () => void } {
  const before = into.rows.length;
  let reading: JsonRows | null = null;
  const blaming = (read: () => void) => {
    try {
      read();
    } catch (error) {
      if (error instanceof ReportFault) throw error;
      throw new ReportFault(`${who} answered ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  return {
    request: {
      ...request,
      reader() {
        into.keep(before);
        let index = 0;
        const rows = new JsonRows((sent) => {
          into.add(take(readAs(who, row, sent, `${options.key ?? 'rows'}.${index++}`)));
        }, options);
        reading = rows;
        return { add: (text) => blaming(() => rows.add(text)) };
      },
    },
    end: () => blaming(() => reading?.end()),
  };
}

const FIRST_WAIT_SECONDS = 2;
const MAX_WAIT_SECONDS = 32;
const SLOW_DOWN_SECONDS = 15 * 60;

/** Sends a request until the network does not say any more that there are too many: after 2, 4, 8, 16 and 32 seconds. */
export function* askPatiently(
  who: string,
  request: CostRequest,
  isThrottled: (answer: CostAnswer) => boolean,
): Generator<CostRequest, CostAnswer, CostAnswer> {
  let answer = yield request;
  for (let wait = FIRST_WAIT_SECONDS; isThrottled(answer); wait *= 2) {
    const asked = answer.retryAfterSeconds ?? 0;
    if (wait > MAX_WAIT_SECONDS || asked > MAX_WAIT_SECONDS) {
      throw new ReportFault(`${who} takes no more requests for now`, Math.max(asked, SLOW_DOWN_SECONDS));
    }
    answer = yield { ...request, afterSeconds: Math.max(wait, asked) };
  }
  return answer;
}

// The fields of answers, whether they are spelled as numbers or as text.

export const idField = z.union([z.int(), z.string().min(1).max(64)]).transform(String);
export const nameField = z
  .string()
  .nullish()
  .transform((name) => name ?? '');
export const countField = z
  .union([z.int().min(0), z.string().regex(/^\d{1,15}$/)])
  .nullish()
  .transform((count) => (count === null || count === undefined ? null : Number(count)));
export const dayField = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}/)
  .transform((text) => text.slice(0, 10));
export const currencyField = z
  .string()
  .regex(/^[a-z]{3}$/i)
  .transform((code) => code.toLowerCase());
/** Decimal text or a number, in billionths. */
export const amountField = z.union([z.number(), z.string()]).transform((amount, ctx) => {
  const nanos = nanosOf(String(amount).trim());
  if (nanos !== null && nanos >= 0n) return nanos;
  ctx.addIssue({ code: 'custom', message: 'is not an amount' });
  return z.NEVER;
});
/** A two-letter code in upper case; empty for anything else, by which networks say that they do not know. */
export const countryField = z
  .string()
  .nullish()
  .transform((text) => toCountryCode(text ?? '')?.toUpperCase() ?? '');
