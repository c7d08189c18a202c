import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';

const moment = (name: string) => integer(name, { mode: 'timestamp_ms' }).notNull();

// users, sessions and accounts have the shape that better-auth expects.

export const users = sqliteTable(
  'users',
  {
    id: text().primaryKey(),
    name: text().notNull(),
    /** Lower case. */
    email: text().notNull(),
    emailVerified: integer('email_verified', { mode: 'boolean' }).notNull().default(false),
    image: text(),
    /** Whether signing in takes a code from an authenticator app, too. */
    twoFactorEnabled: integer('two_factor_enabled', { mode: 'boolean' }).notNull().default(false),
    createdAt: moment('created_at'),
    updatedAt: moment('updated_at'),
  },
  (table) => [uniqueIndex('users_by_email').on(table.email)],
);

export const sessions = sqliteTable(
  'sessions',
  {
    id: text().primaryKey(),
    userId: text('user_id').notNull(),
    token: text().notNull(),
    expiresAt: moment('expires_at'),
    ipAddress: text('ip_address'),
    userAgent: text('user_agent'),
    createdAt: moment('created_at'),
    updatedAt: moment('updated_at'),
  },
  (table) => [uniqueIndex('sessions_by_token').on(table.token), index('sessions_by_user').on(table.userId)],
);

export const accounts = sqliteTable(
  'accounts',
  {
    id: text().primaryKey(),
    accountId: text('account_id').notNull(),
    providerId: text('provider_id').notNull(),
    userId: text('user_id').notNull(),
    accessToken: text('access_token'),
    refreshToken: text('refresh_token'),
    idToken: text('id_token'),
    accessTokenExpiresAt: integer('access_token_expires_at', { mode: 'timestamp_ms' }),
    refreshTokenExpiresAt: integer('refresh_token_expires_at', { mode: 'timestamp_ms' }),
    scope: text(),
    /** scrypt, with its salt. */
    password: text(),
    createdAt: moment('created_at'),
    updatedAt: moment('updated_at'),
  },
  (table) => [index('accounts_by_user').on(table.userId)],
);

/** The authenticator app of a person: at most one. Named by better-auth, which writes it. */
export const twoFactors = sqliteTable(
  'two_factors',
  {
    id: text().primaryKey(),
    userId: text('user_id').notNull(),
    /** The key that the app has, and the recovery codes, encrypted with `SESSION_SECRET`. */
    secret: text().notNull(),
    backupCodes: text('backup_codes').notNull(),
    /** Whether the person has entered a code of it. */
    verified: integer({ mode: 'boolean' }).notNull().default(false),
    failedVerificationCount: integer('failed_verification_count').notNull().default(0),
    lockedUntil: integer('locked_until', { mode: 'timestamp_ms' }),
    /** The time step (RFC 6238) of the last code that was accepted: none of it or before it is accepted again. */
    lastStep: integer('last_step').notNull().default(0),
  },
  (table) => [index('two_factors_by_user').on(table.userId)],
);

/** Passkeys of people. Named by better-auth, which writes it. */
export const passkeys = sqliteTable(
  'passkeys',
  {
    id: text().primaryKey(),
    userId: text('user_id').notNull(),
    /** What the person calls it. */
    name: text(),
    credentialID: text('credential_id').notNull(),
    publicKey: text('public_key').notNull(),
    /** How often it was used, if the authenticator counts. */
    counter: integer().notNull(),
    deviceType: text('device_type').notNull(),
    backedUp: integer('backed_up', { mode: 'boolean' }).notNull(),
    transports: text(),
    aaguid: text(),
    createdAt: integer('created_at', { mode: 'timestamp_ms' }),
    /** Whether it is in the audit log. Until then, nobody signs in with it. */
    confirmed: integer({ mode: 'boolean' }).notNull().default(false),
  },
  (table) => [
    index('passkeys_by_user').on(table.userId),
    uniqueIndex('passkeys_by_credential').on(table.credentialID),
  ],
);

/** Sign-ins whose password was right and whose code is still missing, and challenges to passkeys. Named by better-auth, which writes it. */
export const verifications = sqliteTable(
  'verifications',
  {
    id: text().primaryKey(),
    identifier: text().notNull(),
    value: text().notNull(),
    expiresAt: moment('expires_at'),
    createdAt: moment('created_at'),
    updatedAt: moment('updated_at'),
  },
  (table) => [index('verifications_by_identifier').on(table.identifier)],
);

/** A person belongs to one team. */
export const members = sqliteTable(
  'members',
  {
    userId: text('user_id').primaryKey(),
    teamId: text('team_id').notNull(),
    role: text({ enum: ['owner', 'admin', 'viewer'] }).notNull(),
    createdAt: integer('created_at').notNull(),
  },
  (table) => [index('members_by_team').on(table.teamId)],
);

/** Open invitations. A row is deleted once it is accepted or withdrawn. */
export const invitations = sqliteTable('invitations', {
  /** SHA-256 of the link's last segment, hex. */
  hash: text().primaryKey(),
  teamId: text('team_id').notNull(),
  role: text({ enum: ['owner', 'admin', 'viewer'] }).notNull(),
  /** The user who created it. The invitation ends with that user's role. */
  createdBy: text('created_by').notNull(),
  /** For whom, in the inviter's words. */
  note: text().notNull(),
  createdAt: integer('created_at').notNull(),
  expiresAt: integer('expires_at').notNull(),
});

/** Password reset links. Each is deleted when used. One per person: a new one replaces the last. */
export const passwordResets = sqliteTable('password_resets', {
  userId: text('user_id').primaryKey(),
  /** SHA-256 of the link's last segment, hex. */
  hash: text().notNull(),
  createdAt: integer('created_at').notNull(),
  expiresAt: integer('expires_at').notNull(),
});

/** What people changed or had revealed to them. Append-only; ids sort by time. */
export const auditLog = sqliteTable(
  'audit_log',
  {
    teamId: text('team_id').notNull(),
    id: text().notNull(),
    at: integer().notNull(),
    /** The actor's email at that time, so that people who left are still named. */
    actor: text().notNull(),
    action: text().notNull(),
    /** What the action was done to, in readable form. */
    subject: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.teamId, table.id] })],
);
