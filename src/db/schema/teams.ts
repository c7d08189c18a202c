import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import type { DoubtSettings, JudgedSources } from '#catalogue';

export const teams = sqliteTable('teams', {
  id: text().primaryKey(),
  name: text().notNull(),
  createdAt: integer('created_at').notNull(),
});

export const applications = sqliteTable(
  'applications',
  {
    id: text().primaryKey(),
    teamId: text('team_id').notNull(),
    name: text().notNull(),
    timezone: text().notNull().default('UTC'),
    /** Reporting currency, lower-case ISO 4217. */
    currency: text().notNull().default('usd'),
    dataCollection: integer('data_collection', { mode: 'boolean' }).notNull().default(true),
    iosStoreUrl: text('ios_store_url'),
    /** `appStoreIdOf` the URL. Postbacks of Apple are routed by it, so no other application of the deployment has it. */
    appStoreId: text('app_store_id'),
    /** The App Store id that the deployment's owner confirmed as the application's. Another `appStoreId` is a claim that nobody confirmed. */
    confirmedAppStoreId: text('confirmed_app_store_id'),
    /** The application that had the App Store id until the owner moved it. Null once that one's postbacks have moved, too. */
    appStoreIdFrom: text('app_store_id_from'),
    androidStoreUrl: text('android_store_url'),
    fallbackUrl: text('fallback_url'),
    attributionWindowHours: integer('attribution_window_hours').notNull().default(168),
    /** The origins of web pages that may call the ingestion endpoints from a browser. */
    allowedOrigins: text('allowed_origins', { mode: 'json' }).$type<string[]>().notNull().default([]),
    /** 0 disables probabilistic matching. */
    probabilisticWindowHours: integer('probabilistic_window_hours').notNull().default(24),
    /** How long an impression may lead to a device. 0 disables view-through attribution. */
    viewWindowHours: integer('view_through_window_hours').notNull().default(24),
    /** What the application decides about the rules that doubt installs. */
    fraudRules: text('install_doubts', { mode: 'json' }).$type<DoubtSettings>().notNull().default({}),
    /** What is known of click flooding. Null until it is judged first. */
    judgedSources: text('judged_sources', { mode: 'json' }).$type<JudgedSources>(),
    /** Apple's App ID prefix, in most cases the team id, and the app's bundle id. */
    appleAppIdPrefix: text('apple_app_id_prefix'),
    appleBundleId: text('apple_bundle_id'),
    /** SHA-256 fingerprints of the certificates that sign the Android app, as `91:D7:…`. */
    androidFingerprints: text('android_fingerprints', { mode: 'json' })
      .$type<string[]>()
      .notNull()
      .default([]),
    /** Where the facts of an impression are in the callbacks of its mediation platform: an `ImpressionTemplate` of src/networks. */
    impressionTemplate: text('impression_template', { mode: 'json' }).$type<Record<string, string | null>>(),
    /** Decrypts the install referrers of Meta's ads. Itself encrypted with AES-GCM. */
    metaReferrerKey: text('meta_referrer_key'),
    /** Whether Apple is asked which ad led to an install. */
    appleAds: integer('apple_ads_lookup', { mode: 'boolean' }).notNull().default(false),
    /** Whether the campaigns, ad sets and creatives that networks name are created with their first install. */
    createFromNetworks: integer('create_from_networks', { mode: 'boolean' }).notNull().default(false),
    /** The service account that signs the pushes of Google Play's notifications. */
    googlePushAccount: text('google_push_account'),
    /** SHA-256 of the Authorization value that RevenueCat sends, hex. */
    revenuecatAuthorizationHash: text('revenuecat_authorization_hash'),
    /** The store's share of a payment, in hundredths of a percent. Net metrics are without it. */
    storeFeeBasisPoints: integer('store_fee_basis_points').notNull().default(0),
    /** The number of counters that the application's devices are spread over. Grows automatically. */
    shards: integer().notNull().default(1),
    createdAt: integer('created_at').notNull(),
  },
  (table) => [
    index('applications_by_team').on(table.teamId, table.id),
    uniqueIndex('applications_by_app_store_id').on(table.appStoreId),
  ],
);

export const apiKeys = sqliteTable(
  'api_keys',
  {
    /** SHA-256 of the key, hex. */
    hash: text().primaryKey(),
    applicationId: text('application_id').notNull(),
    /** The key encrypted with AES-GCM, so that an admin can view it again. */
    encrypted: text().notNull(),
    createdAt: integer('created_at').notNull(),
    /** Null while this is the application's current key; set when a newer one replaces it. */
    expiresAt: integer('expires_at'),
  },
  (table) => [index('api_keys_by_application').on(table.applicationId)],
);

/** The secrets in the addresses to which services post without an API key. An application may have several while one is replaced. */
export const intakeSecrets = sqliteTable(
  'intake_secrets',
  {
    /** SHA-256 of the secret, hex. The secret itself is stored nowhere. */
    hash: text().primaryKey(),
    applicationId: text('application_id').notNull(),
    createdAt: integer('created_at').notNull(),
    /** Null for the current secret; set when a newer one replaces it. */
    expiresAt: integer('expires_at'),
  },
  (table) => [index('intake_secrets_by_application').on(table.applicationId)],
);

export const accessTokens = sqliteTable(
  'access_tokens',
  {
    /** SHA-256 of the token, hex. The token itself is stored nowhere. */
    hash: text().primaryKey(),
    id: text().notNull(),
    teamId: text('team_id').notNull(),
    name: text().notNull(),
    /** The creator, or whoever took the token over. Null for tokens of earlier releases. */
    createdBy: text('created_by'),
    createdAt: integer('created_at').notNull(),
    expiresAt: integer('expires_at'),
    revokedAt: integer('revoked_at'),
  },
  (table) => [index('access_tokens_by_team').on(table.teamId, table.id)],
);

/**
 * Deleted applications. A row stays until nothing can arrive for its application any more; whatever came in the meantime is then
 * deleted together with the row.
 */
export const applicationDeletions = sqliteTable('application_deletions', {
  deletedId: text('deleted_id').primaryKey(),
  teamId: text('team_id').notNull(),
  name: text().notNull(),
  shards: integer().notNull(),
  deletedAt: integer('deleted_at').notNull(),
  /** When everything of the application was first gone; null until then. */
  clearedAt: integer('cleared_at'),
  /** Tokens have been searched up to this device. */
  tokensThrough: text('tokens_through').notNull(),
});
