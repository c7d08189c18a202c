// What `write-stores.ts` writes for a release and the upgrade test reads.

/** What the history of the stores holds, by country; money in US dollars. */
export type CountryTotals = {
  country: string;
  installs: number;
  sessions: number;
  impressions: number;
  ad_revenue: number;
  purchases: number;
  purchase_revenue: number;
  events: number;
};

/** `history.json`: whose stores they are, what was sent, and what reports have to say. */
export type StoredHistory = {
  written_at: string;
  api_key: string;
  team_token: string;
  application_id: string;
  /** The name of the application's one counter. */
  counter: string;
  /** The first and the last day of the history. */
  from: string;
  to: string;
  /** A device's token per country. */
  tokens: Record<string, string>;
  /** Bodies of `/webhook`; those with a key are recognised when they come again. */
  recognisable: Record<string, unknown>[];
  /** The queue's messages, which it may deliver again. */
  messages: unknown[];
  /** How many raw events there are, installs included. */
  raw_events: number;
  totals: CountryTotals[];
};

/** Between the statements of `d1.sql` and `counter.sql`. */
export const BREAKPOINT = '\n--> statement-breakpoint\n';
