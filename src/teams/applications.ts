import { and, eq } from 'drizzle-orm';
import * as z from 'zod';
import { auditStatement, type Caller } from '#audit';
import { DOUBT_ACTIONS, DOUBT_RULES, type DoubtSettings, settingOf } from '#catalogue';
import { apiKeys, applications, type Database, hasRow, insertWhere, teams } from '#db';
import { AppError, currencyCode, emailAddress, idListQuery, requiredName, requiredText } from '#http';
import { encryptText, sha256Hex } from '#lib/crypto';
import { fromApi, toApi } from '#lib/encoding/camel-case';
import { newId } from '#lib/ids';
import { present } from '#lib/input/present';
import { appStoreIdOf } from '#lib/store-urls';
import { iso, isTimezone } from '#lib/time';
import { Application } from './answers.ts';
import { makeApiKey } from './api-key.ts';
import { isFreeInAppStore } from './app-store-id.ts';
import { ImpressionTemplateChoice } from './impression-template.ts';
import { type ApplicationRow, applicationNotFound, nameOf, owned } from './own-application.ts';

/** Per team. Each may have counters, alerts and channels of its own. */
const MAX_APPLICATIONS = 100;

const storeUrl = z
  .url({ protocol: /^https$/, error: 'must be an https URL' })
  .max(2048, 'must be at most 2048 characters')
  .nullable();

const windowHours = (min: number) => {
  const error = `must be a whole number from ${min} to 2160`;
  return z.number({ error }).int(error).min(min, error).max(2160, error);
};

const MAX_ORIGINS = 20;
/** A scheme, a domain of 253 characters, and a port. */
const MAX_ORIGIN_CHARACTERS = 267;
const ORIGINS = `must be a list of at most ${MAX_ORIGINS} origins, such as https://play.example.com, without a path or a slash at the end`;

/** The exact form in which browsers send an origin: lower case, and without a default port. */
function isOrigin(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || text.length > MAX_ORIGIN_CHARACTERS) return false;
  return /^https?:$/.test(url.protocol) && url.origin === text && !text.includes('*');
}

const allowedOrigins = z
  .array(z.string({ error: 'must be text' }), { error: ORIGINS })
  .max(MAX_ORIGINS, ORIGINS)
  .refine((origins) => origins.every(isOrigin), ORIGINS);

const MAX_FINGERPRINTS = 10;
const FINGERPRINTS = `must be a list of at most ${MAX_FINGERPRINTS} SHA-256 fingerprints, such as 91:D7:…, of 32 bytes each`;

const androidFingerprints = z
  .array(z.string({ error: 'must be text' }).toUpperCase(), { error: FINGERPRINTS })
  .max(MAX_FINGERPRINTS, FINGERPRINTS)
  .refine((prints) => prints.every((print) => /^(?:[0-9A-F]{2}:){31}[0-9A-F]{2}$/.test(print)), FINGERPRINTS);

const appleAppIdPrefix = z
  .string({ error: 'must be text' })
  .regex(/^[0-9A-Z]{10}$/, 'must be 10 capital letters and digits, such as ABCDE12345')
  .nullable();

const appleBundleId = z
  .string({ error: 'must be text' })
  .max(155, 'must be at most 155 characters')
  .regex(/^[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*$/, 'must be a bundle id, such as com.example.game')
  .nullable();

const metaReferrerKey = z
  .string({ error: 'must be text' })
  .regex(/^[0-9a-f]{64}$/i, 'must be 64 hexadecimal digits')
  .nullable();

/** RevenueCat sends it with each request. A shorter one could be guessed. */
const revenuecatAuthorization = z
  .string({ error: 'must be text' })
  .min(16, 'must be at least 16 characters')
  .max(512, 'must be at most 512 characters')
  .regex(/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/, 'must be ASCII text without spaces around it')
  .nullable();

const FEE = 'must be a number from 0 to 0.99, such as 0.15, with at most four decimals';
/** In hundredths of a percent, as it is stored. */
const basisPoints = (fee: number) => Math.round(fee * 10_000);
const storeFee = z
  .number({ error: FEE })
  .min(0, FEE)
  .max(0.99, FEE)
  .refine((fee) => Math.abs(fee * 10_000 - basisPoints(fee)) < 1e-6, FEE);

const action = z.enum(DOUBT_ACTIONS, { error: `must be ${DOUBT_ACTIONS.join(', ')}` }).optional();

function doubtThreshold({ threshold }: (typeof DOUBT_RULES)[number]) {
  if (threshold === null) return z.null({ error: 'has no threshold' }).optional();
  const error = `must be a whole number from ${threshold.min} to ${threshold.max}`;
  return z.number({ error }).int(error).min(threshold.min, error).max(threshold.max, error).optional();
}

/** By rule. A rule, or a part of one, that is not named stays as it is. */
const fraudRules = z.strictObject(
  Object.fromEntries(
    DOUBT_RULES.map((rule) => [
      rule.id,
      z.object({ action, threshold: doubtThreshold(rule) }, { error: 'must be an object' }).optional(),
    ]),
  ),
  {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `has no rule ${issue.keys?.join(', ')}: must be of ${DOUBT_RULES.map(({ id }) => id).join(', ')}`
        : 'must be an object',
  },
);

/** The settings of rules after a change. */
const changeDoubts = (before: DoubtSettings, changes: NonNullable<ApplicationChanges['fraud_rules']>) => ({
  ...before,
  ...Object.fromEntries(
    Object.entries(changes).map(([id, change]) => {
      const { action = before[id]?.action, threshold = before[id]?.threshold } = change ?? {};
      return [id, { ...(action ? { action } : {}), ...(threshold ? { threshold } : {}) }];
    }),
  ),
});

const fields = {
  name: requiredName(255),
  timezone: requiredText(64).refine(isTimezone, 'must be an IANA time zone, such as Europe/Berlin'),
  currency: currencyCode(),
  data_collection: z.boolean({ error: 'must be true or false' }),
  ios_store_url: storeUrl,
  android_store_url: storeUrl,
  fallback_url: storeUrl,
  allowed_origins: allowedOrigins,
  apple_app_id_prefix: appleAppIdPrefix,
  apple_bundle_id: appleBundleId,
  android_fingerprints: androidFingerprints,
  attribution_window_hours: windowHours(1),
  probabilistic_window_hours: windowHours(0),
  view_window_hours: windowHours(0),
  fraud_rules: fraudRules,
  meta_referrer_key: metaReferrerKey,
  apple_ads: z.boolean({ error: 'must be true or false' }),
  create_from_networks: z.boolean({ error: 'must be true or false' }),
  impression_template: ImpressionTemplateChoice,
  google_push_account: emailAddress().nullable(),
  revenuecat_authorization: revenuecatAuthorization,
  store_fee: storeFee,
};

const { name, ...settings } = fields;
export const NewApplication = z.object({ name, ...z.object(settings).partial().shape });
export type NewApplication = z.infer<typeof NewApplication>;
export const ApplicationChanges = z.object(fields).partial();
export type ApplicationChanges = z.infer<typeof ApplicationChanges>;

/** `?limit=&cursor=`. */
export const ApplicationsQuery = idListQuery('app');

/** Of an API key and of an intake secret. */
export const Replacement = z.object({
  /** How long the replaced one keeps working. */
  grace_hours: z
    .number({ error: 'must be a number from 0 to 72' })
    .min(0, 'must be a number from 0 to 72')
    .max(72, 'must be a number from 0 to 72')
    .default(0),
});

/** An application in the team API's format. */
export const showApplication = (row: ApplicationRow): Application =>
  toApi(Application, {
    ...row,
    fraudRules: Object.fromEntries(DOUBT_RULES.map((rule) => [rule.id, settingOf(rule, row.fraudRules)])),
    metaReferrerKeySet: row.metaReferrerKey !== null,
    revenuecatAuthorizationSet: row.revenuecatAuthorizationHash !== null,
    storeFee: row.storeFeeBasisPoints / 10_000,
    createdAt: iso(row.createdAt),
  });

async function toColumns(
  changes: ApplicationChanges,
  encryptionSecret: string,
  doubts: DoubtSettings = {},
): Promise<Partial<ApplicationRow>> {
  const { fraudRules, metaReferrerKey, revenuecatAuthorization, storeFee, ...columns } = fromApi(changes);
  const toHash = revenuecatAuthorization;
  return present({
    ...columns,
    appStoreId: columns.iosStoreUrl === undefined ? undefined : appStoreIdOf(columns.iosStoreUrl),
    fraudRules: fraudRules && changeDoubts(doubts, fraudRules),
    metaReferrerKey: metaReferrerKey ? await encryptText(encryptionSecret, metaReferrerKey) : metaReferrerKey,
    revenuecatAuthorizationHash: toHash ? await sha256Hex(toHash) : toHash,
    storeFeeBasisPoints: storeFee === undefined ? undefined : basisPoints(storeFee),
  });
}

export async function createTeam(
  db: Database,
  teamName: string,
  now: number,
): Promise<{ id: string; name: string }> {
  const team = { id: newId('team'), name: teamName, createdAt: now };
  await db.insert(teams).values(team);
  return { id: team.id, name: team.name };
}

/**
 * Creates the application and its first API key, both or neither. The key is returned only here. Throws `conflict` beyond 100 per team, and
 * for an App Store app that another application has.
 */
export async function createApplication(
  caller: Caller,
  wanted: NewApplication,
  encryptionSecret: string,
): Promise<{ application: ApplicationRow; apiKey: string }> {
  const { db, team, now } = caller;
  if ((await db.$count(applications, eq(applications.teamId, team.id))) >= MAX_APPLICATIONS) {
    throw new AppError('conflict', `A team has at most ${MAX_APPLICATIONS} applications`);
  }
  const id = newId('app');
  const { apiKey, row } = await makeApiKey(id, encryptionSecret, now);
  const columns = await toColumns(wanted, encryptionSecret);
  const values = { ...columns, id, teamId: team.id, name: wanted.name, createdAt: now };
  const created = hasRow(applications, eq(applications.id, id));
  const [inserted] = await db.batch([
    insertWhere(db, applications, values, isFreeInAppStore(db, columns.appStoreId, id)).returning(),
    insertWhere(db, apiKeys, row, created),
    auditStatement(caller, 'application.created', nameOf(values), created),
  ]);
  const [application] = inserted;
  if (!application) throw appStoreAppTaken();
  return { application: owned(application), apiKey };
}

const appStoreAppTaken = () =>
  new AppError(
    'conflict',
    'The App Store app of ios_store_url belongs to another application of this deployment',
  );

/**
 * Takes effect everywhere within 60 s, because isolates cache an application that long. Throws `conflict` for an App Store app that another
 * application has.
 */
export async function changeApplication(
  caller: Caller,
  application: ApplicationRow,
  changes: ApplicationChanges,
  encryptionSecret: string,
): Promise<ApplicationRow> {
  const columns = await toColumns(changes, encryptionSecret, application.fraudRules);
  if (Object.keys(columns).length === 0) return application;
  const { db } = caller;
  const own = eq(applications.id, application.id);
  const changeable = and(own, isFreeInAppStore(db, columns.appStoreId, application.id));
  const [, changed, found] = await db.batch([
    auditStatement(
      caller,
      'application.changed',
      nameOf({ ...application, ...columns }),
      hasRow(applications, changeable),
    ),
    db.update(applications).set(columns).where(changeable).returning(),
    db.select({ id: applications.id }).from(applications).where(own),
  ]);
  const [row] = changed;
  if (!row) throw found.length > 0 ? appStoreAppTaken() : applicationNotFound();
  return owned(row);
}
