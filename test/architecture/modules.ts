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
  lib: {
    imports: [],
  },
  networks: {
    imports: ['lib'],
  },
  env: {
    imports: ['lib'],
  },
  catalogue: {
    imports: ['lib', 'networks'],
  },
  db: {
    imports: ['catalogue', 'lib'],
    owns: ['store_formats'],
  },
  hashing: {
    imports: ['db', 'env', 'lib'],
    owns: ['hash_keys'],
    reads: ['applications'],
  },
  http: {
    imports: ['db', 'env', 'lib'],
    reads: ['access_tokens', 'api_keys', 'applications'],
    writes: {
      rejections:
        'what was counted as absent is noted by whichever endpoint was sent it, like what is refused',
    },
  },
  audit: {
    imports: ['db', 'http', 'lib'],
    owns: ['audit_log'],
  },
  members: {
    imports: ['audit', 'db', 'env', 'http', 'lib'],
    owns: [
      'accounts',
      'invitations',
      'members',
      'passkeys',
      'password_resets',
      'sessions',
      'two_factors',
      'users',
      'verifications',
    ],
    reads: ['access_tokens', 'teams'],
    writes: {
      audit_log: 'a password that is reset on the command line has no caller',
    },
  },
  teams: {
    imports: ['audit', 'catalogue', 'db', 'env', 'http', 'lib', 'networks'],
    owns: ['access_tokens', 'api_keys', 'applications', 'intake_secrets', 'teams'],
    reads: ['audit_log'],
  },
  attribution: {
    imports: ['catalogue', 'db', 'env', 'hashing', 'lib', 'networks'],
    owns: ['clicks', 'impressions'],
    reads: ['applications', 'creatives', 'external_ids', 'tokens'],
  },
  rollup: {
    imports: ['attribution', 'audit', 'catalogue', 'db', 'env', 'http', 'lib'],
    owns: [
      'cohort_activity',
      'cohort_revenue',
      'parked_messages',
      'parked_chunks',
      'rollup_ads',
      'rollup_custom',
      'rollup_daily',
      'rollup_items',
      'cube_months',
      'cube_parts',
    ],
    reads: ['applications', 'teams'],
  },
  lake: {
    imports: ['catalogue', 'lib'],
  },
  counting: {
    imports: ['attribution', 'catalogue', 'db', 'env', 'lake', 'lib', 'networks', 'rollup'],
    owns: ['counter_flushes', 'delayed_messages'],
    reads: ['parked_messages'],
    writes: {
      destinations: 'what counters were told of is noted by whoever tells them',
      applications: 'a counter that is full raises the number of shards',
    },
  },
  tracking: {
    imports: ['attribution', 'catalogue', 'db', 'env', 'hashing', 'http', 'lib', 'networks', 'rollup'],
    reads: ['applications', 'creatives'],
  },
  creatives: {
    imports: ['audit', 'db', 'http', 'lib', 'networks', 'teams', 'tracking'],
    owns: ['adsets', 'campaigns', 'creative_requests', 'creatives', 'external_ids'],
    reads: ['applications'],
    writes: {
      audit_log: 'removes the row of a creative whose creation it undoes',
    },
  },
  devices: {
    imports: [
      'attribution',
      'audit',
      'catalogue',
      'counting',
      'creatives',
      'db',
      'env',
      'hashing',
      'http',
      'lib',
      'networks',
      'rollup',
      'teams',
    ],
    owns: ['tokens'],
    reads: ['adsets', 'applications', 'campaigns', 'creatives'],
    writes: {
      rejections: 'an erased device takes the samples of refused requests with it, in one transaction',
    },
  },
  deletion: {
    imports: ['audit', 'counting', 'db', 'http', 'lake', 'lib', 'rollup', 'teams'],
    owns: ['application_deletions'],
    reads: ['creative_requests', 'creatives', 'destinations'],
    writes: {
      api_keys: 'an application ends with its keys, in one transaction',
      applications: 'an application ends with its keys, in one transaction',
      counter_flushes: 'clears what an application leaves, table by table',
      tokens: 'clears what an application leaves, table by table',
    },
  },
  ingestion: {
    imports: ['catalogue', 'db', 'devices', 'env', 'http', 'lib', 'rollup'],
    owns: ['rejections'],
    reads: ['teams'],
  },
  events: {
    imports: [
      'catalogue',
      'counting',
      'creatives',
      'db',
      'devices',
      'env',
      'http',
      'lake',
      'lib',
      'rollup',
      'teams',
    ],
    reads: ['applications', 'parked_messages'],
  },
  money: {
    imports: ['audit', 'catalogue', 'creatives', 'db', 'http', 'lake', 'lib', 'networks', 'rollup', 'teams'],
    owns: ['cost_columns', 'cost_names', 'costs', 'exchange_rates'],
    reads: ['adsets', 'applications', 'campaigns', 'creatives', 'external_ids'],
  },
  notes: {
    imports: ['audit', 'db', 'http', 'lib', 'teams'],
    owns: ['notes'],
  },
  reports: {
    imports: ['catalogue', 'counting', 'creatives', 'db', 'http', 'lib', 'money', 'rollup', 'teams'],
    reads: ['adsets', 'campaigns', 'cohort_revenue', 'costs', 'creatives', 'rollup_daily'],
    writes: {
      applications: 'what is known of click flooding, read with the settings of each install',
    },
  },
  skan: {
    imports: ['audit', 'db', 'http', 'lib', 'members', 'money', 'teams'],
    owns: ['skan_postbacks', 'skan_schemas'],
    reads: ['applications', 'teams'],
  },
  stores: {
    imports: ['catalogue', 'counting', 'db', 'devices', 'http', 'lib', 'rollup', 'teams'],
    owns: ['store_notifications'],
    reads: ['applications'],
  },
  impressions: {
    imports: ['catalogue', 'devices', 'env', 'http', 'lib', 'networks', 'rollup', 'teams'],
  },
  operations: {
    imports: ['audit', 'counting', 'db', 'env', 'http', 'ingestion', 'lake', 'lib', 'rollup', 'teams'],
    owns: ['schedule_runs', 'store_losses'],
    reads: ['applications', 'connectors', 'destinations', 'parked_messages'],
  },
  backup: {
    imports: ['counting', 'db', 'devices', 'env', 'http', 'lake', 'lib', 'rollup'],
    owns: ['restores', 'secret_copies'],
    reads: ['applications', 'hash_keys', 'teams', 'users'],
    writes: {
      counter_flushes: 'a restored counter continues after the last part that the snapshot has',
    },
  },
  alerts: {
    imports: [
      'audit',
      'catalogue',
      'counting',
      'creatives',
      'db',
      'env',
      'http',
      'lib',
      'operations',
      'reports',
      'teams',
    ],
    owns: ['alert_changes', 'alerts', 'channels', 'notices'],
    reads: ['applications'],
  },
  connectors: {
    imports: [
      'alerts',
      'audit',
      'counting',
      'db',
      'env',
      'http',
      'lib',
      'money',
      'networks',
      'reports',
      'teams',
    ],
    owns: ['connectors', 'reported_ad_revenue'],
    reads: ['applications'],
  },
  destinations: {
    imports: [
      'alerts',
      'attribution',
      'audit',
      'catalogue',
      'counting',
      'db',
      'env',
      'http',
      'lib',
      'networks',
      'teams',
    ],
    owns: ['destinations'],
    reads: ['adsets', 'applications', 'campaigns', 'clicks', 'creatives'],
  },
  views: {
    imports: ['audit', 'db', 'http', 'lib'],
    owns: ['saved_views', 'share_links'],
    reads: ['teams'],
  },
  assistants: {
    imports: [
      'attribution',
      'catalogue',
      'connectors',
      'db',
      'devices',
      'env',
      'http',
      'lib',
      'reports',
      'skan',
      'views',
    ],
  },
  docs: {
    imports: ['env', 'http'],
  },
  dashboard: {
    imports: [
      'alerts',
      'attribution',
      'audit',
      'catalogue',
      'connectors',
      'counting',
      'creatives',
      'db',
      'deletion',
      'destinations',
      'devices',
      'env',
      'events',
      'http',
      'ingestion',
      'lib',
      'members',
      'money',
      'networks',
      'notes',
      'operations',
      'reports',
      'rollup',
      'skan',
      'stores',
      'teams',
      'tracking',
      'views',
    ],
    reads: ['clicks', 'costs', 'creatives', 'invitations', 'members', 'rollup_daily'],
  },
  cli: {
    imports: [
      'backup',
      'catalogue',
      'connectors',
      'db',
      'env',
      'lake',
      'lib',
      'money',
      'members',
      'networks',
      'skan',
      'teams',
    ],
    reads: ['store_formats', 'teams'],
    writes: { secret_copies: 'whoever may write to the database may ask for a copy of the secrets' },
  },
};
