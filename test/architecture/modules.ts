// Which module may import which, and whose each table is. `modules.test.ts` compares this with the source.

export type Module = {
  /** The modules it imports, all above it in this list: there is no arrow upwards and no cycle. */
  imports: readonly string[];
  /** Its tables in D1. No other module writes them. */
  owns?: readonly string[];
  /** Tables of other modules that its queries read, mostly for a name or for the team that something is of. */
  reads?: readonly string[];
  /** Tables of other modules that it writes all the same, and why. */
  writes?: Readonly<Record<string, string>>;
};

/** Lowest first. */
export const MODULES: Readonly<Record<string, Module>> = {
  lib: { imports: [] },
  env: { imports: [] },
  catalogue: { imports: ['lib'] },
  db: { imports: [] },
  http: { imports: ['db', 'env', 'lib'], reads: ['access_tokens', 'api_keys', 'applications'] },
  members: {
    imports: ['db', 'env', 'http', 'lib'],
    owns: ['accounts', 'audit_log', 'invitations', 'members', 'sessions', 'users'],
    writes: {
      teams:
        'the first person of a deployment and their team are made by one statement, so that no two can be first',
    },
  },
  teams: {
    imports: ['db', 'env', 'http', 'lib', 'members'],
    owns: ['access_tokens', 'api_keys', 'applications', 'teams'],
  },
  attribution: {
    imports: ['catalogue', 'db', 'env', 'lib'],
    owns: ['clicks'],
    reads: ['applications', 'creatives', 'tokens'],
  },
  rollup: {
    imports: ['attribution', 'catalogue', 'db', 'http', 'lib'],
    owns: [
      'cohort_activity',
      'cohort_revenue',
      'parked_messages',
      'rollup_ads',
      'rollup_custom',
      'rollup_daily',
      'rollup_items',
      'rollup_segments',
    ],
    reads: ['applications', 'teams'],
  },
  lake: { imports: ['catalogue', 'lib'] },
  counting: {
    imports: ['attribution', 'catalogue', 'db', 'env', 'http', 'lake', 'lib', 'rollup'],
    owns: ['counter_flushes'],
    reads: ['parked_messages'],
    writes: { applications: 'a counter that is full raises the number of shards' },
  },
  tracking: {
    imports: ['attribution', 'catalogue', 'db', 'env', 'http', 'lib', 'rollup'],
    reads: ['applications', 'creatives'],
  },
  creatives: {
    imports: ['db', 'http', 'lib', 'teams', 'tracking'],
    owns: ['adsets', 'campaigns', 'creative_requests', 'creatives'],
    reads: ['api_keys', 'applications'],
  },
  devices: {
    imports: [
      'attribution',
      'catalogue',
      'counting',
      'db',
      'env',
      'http',
      'lib',
      'members',
      'rollup',
      'teams',
    ],
    owns: ['tokens'],
    reads: ['adsets', 'applications', 'campaigns', 'creatives'],
    writes: { audit_log: 'in the transaction of what it records' },
  },
  ingestion: {
    imports: ['catalogue', 'db', 'devices', 'env', 'http', 'lib', 'rollup'],
    owns: ['rejections'],
    reads: ['teams'],
  },
  events: {
    imports: ['catalogue', 'counting', 'db', 'devices', 'env', 'http', 'lake', 'lib', 'teams'],
    reads: ['applications', 'parked_messages'],
  },
  money: {
    imports: ['db', 'http', 'lib', 'teams'],
    owns: ['costs', 'exchange_rates'],
    reads: ['adsets', 'campaigns', 'creatives'],
  },
  reports: {
    imports: ['catalogue', 'counting', 'db', 'http', 'lib', 'money', 'teams'],
    reads: ['adsets', 'campaigns', 'cohort_activity', 'cohort_revenue', 'costs', 'creatives', 'rollup_ads'],
  },
  operations: { imports: ['counting', 'db', 'http', 'members', 'rollup', 'teams'] },
  docs: {
    imports: [
      'catalogue',
      'creatives',
      'devices',
      'env',
      'events',
      'http',
      'ingestion',
      'money',
      'reports',
      'teams',
      'tracking',
    ],
  },
  dashboard: {
    imports: [
      'attribution',
      'catalogue',
      'counting',
      'creatives',
      'db',
      'devices',
      'env',
      'events',
      'http',
      'ingestion',
      'lib',
      'members',
      'money',
      'reports',
      'rollup',
      'teams',
      'tracking',
    ],
  },
  cli: { imports: ['catalogue', 'db', 'env', 'lake', 'lib', 'members', 'teams'], reads: ['teams'] },
};
