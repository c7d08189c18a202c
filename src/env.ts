import * as z from 'zod';
import { secretsIn } from '#lib/crypto';

/** Safe in a header name. */
export const SERVICE_NAME_FORM = /^[A-Za-z][A-Za-z0-9-]*$/;

/** A secret, or several separated by spaces while it is rotated: see `secretsIn`. */
const rotatable = () =>
  z
    .string()
    .refine(
      (text) => secretsIn(text).every((one) => one.length >= 32) && text.trim() !== '',
      'must have at least 32 characters',
    );

const Settings = z.lazy(() =>
  z.object({
    /** Names the two credential headers: `<name>-api-key` and `<name>-Token`. */
    SERVICE_NAME: z.string().regex(SERVICE_NAME_FORM, 'must be usable in a header name').default('service'),
    /** The base URL of tracking links. Empty means `<origin>/t`. */
    TRACKING_BASE_URL: z.union([z.literal(''), z.url({ protocol: /^https?$/ })]).default(''),
    TOKEN_TTL_DAYS: z.coerce.number().int().min(1).max(3650).default(400),
    /** How long a counter remembers idempotency keys after it accepted them. Keys of purchases are kept as long as raw events. */
    IDEMPOTENCY_DAYS: z.coerce.number().int().min(9, 'must be at least 9').max(3650).default(30),
    /** How long R2 keeps raw events, and counters the keys of purchases. The minimum covers redeliveries, which arrive within 8 days. */
    RAW_RETENTION_DAYS: z.coerce.number().int().min(10, 'must be at least 10').max(3650).default(400),
    /** A feed of daily reference rates in the European Central Bank's XML format. Empty disables it. */
    EXCHANGE_RATES_URL: z
      .union([z.literal(''), z.url({ protocol: /^https?$/ })])
      .default('https://www.ecb.europa.eu/stats/eurofxref/eurofxref-daily.xml'),
    /** A list of daily rates for the currencies that the feed above lacks: units per euro, as JSON. Empty disables it. */
    FURTHER_RATES_URL: z
      .union([z.literal(''), z.url({ protocol: /^https?$/ })])
      .default('https://cdn.jsdelivr.net/npm/@fawazahmed0/currency-api@latest/v1/currencies/eur.json'),
    /** The sender of alert and digest emails. Empty disables email. Also requires the `MAIL` binding. */
    MAIL_FROM: z.union([z.literal(''), z.email('must be an email address')]).default(''),
    /** The bearer token of `GET /metrics`. Empty switches it off. */
    METRICS_TOKEN: z.union([z.literal(''), rotatable()]).default(''),
    TOKEN_SECRET: rotatable(),
    KEY_ENCRYPTION_SECRET: rotatable(),
    SESSION_SECRET: rotatable(),
  }),
);

/** A deployment's variables and secrets, validated and with defaults applied. */
export type Settings = z.infer<typeof Settings>;

const parsed = new WeakMap<object, Settings>();

/** Parsed once per `env` object, so once per isolate. Throws an error that names the invalid variables, never their values. */
export function settingsOf(env: Env): Settings {
  let settings = parsed.get(env);
  if (!settings) {
    const result = Settings.safeParse(env);
    if (!result.success) {
      const faults = result.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}`);
      throw new Error(`The deployment is not configured: ${faults.join('; ')}`);
    }
    settings = result.data;
    parsed.set(env, settings);
  }
  return settings;
}

/**
 * The id of the version of the Worker that is running, which no other version has; null if it is unknown. Locally, it is a new one on every
 * start and after every change.
 */
export const versionOf = (env: Partial<Pick<Env, 'CF_VERSION_METADATA'>>): string | null =>
  env.CF_VERSION_METADATA?.id || null;
