/** What the platform takes of one thing, and what to do once it is not enough. */
type Limit = { limit: number; unit: string; source: string; remedy: string };

const DOCS = 'https://developers.cloudflare.com';

/** Of the Workers Paid plan. */
export const LIMITS = {
  queue_messages: {
    limit: 5_000,
    unit: 'messages/s of one queue',
    source: `${DOCS}/queues/platform/limits/`,
    remedy: 'send batches, or set EVENT_QUEUES (at most 64): docs/operations.md, Several event queues',
  },
  counter_thread: {
    limit: 1,
    unit: 'of a counter’s thread',
    source: `${DOCS}/durable-objects/platform/limits/`,
    remedy:
      'counters request shards by themselves, up to 64; beyond, move applications to an org of their own',
  },
  counter_storage: {
    limit: 10e9,
    unit: 'bytes of a counter',
    source: `${DOCS}/durable-objects/platform/limits/`,
    remedy: 'more shards, which counters request by themselves at 4 GB, up to 64',
  },
  database_bytes: {
    limit: 10e9,
    unit: 'bytes of the database after a year',
    source: `${DOCS}/d1/platform/limits/`,
    remedy: 'one org per product, each with its database; a shorter attribution window keeps fewer clicks',
  },
  database_statements: {
    limit: 1_000,
    unit: 'statements/s of the database, at 1 ms each',
    source: `${DOCS}/d1/platform/limits/`,
    remedy: 'one org per product, each with its database',
  },
  database_rows: {
    limit: 50_000,
    unit: 'rows/s that the database writes, assumed',
    source: `${DOCS}/d1/platform/limits/`,
    remedy: 'one org per product, each with its database',
  },
  application_requests: {
    limit: 1_000,
    unit: 'requests/s of one application (API_KEY_LIMIT)',
    source: 'wrangler.toml',
    remedy: 'send batches, or raise API_KEY_LIMIT',
  },
  bucket_writes: {
    limit: 1_000,
    unit: 'writes/s of the bucket, assumed',
    source: `${DOCS}/r2/platform/limits/`,
    remedy: 'one org per product, each with its bucket',
  },
  statements_per_invocation: {
    limit: 1_000,
    unit: 'statements of one alarm',
    source: `${DOCS}/d1/platform/limits/`,
    remedy: 'nothing: an alarm leaves the rest to the next',
  },
  crons: {
    limit: 250,
    unit: 'cron triggers of the account',
    source: `${DOCS}/workers/platform/limits/`,
    remedy: 'another account',
  },
} as const satisfies Record<string, Limit>;

export type LimitName = keyof typeof LIMITS;
