import * as z from 'zod';

/** Usable in the name of a header. */
export const SERVICE_NAME_FORM = /^[A-Za-z][A-Za-z0-9-]*$/;

const Settings = z.object({
  /** Names the two credential headers: `<name>-api-key` and `<name>-Token`. */
  SERVICE_NAME: z.string().regex(SERVICE_NAME_FORM, 'must be usable in a header name').default('service'),
  /** Where tracking links point; empty means `<origin>/t`. */
  TRACKING_BASE_URL: z.union([z.literal(''), z.url({ protocol: /^https?$/ })]).default(''),
  TOKEN_TTL_DAYS: z.coerce.number().int().min(1).max(3650).default(400),
  /** Keys that tell repeats are remembered so long after they were taken; those of purchases as long as raw events. */
  IDEMPOTENCY_DAYS: z.coerce.number().int().min(9, 'must be at least 9').max(3650).default(30),
  /** Raw events are kept so long in R2, and the keys by which repeats of purchases are recognised. A redelivery may come after 8 days. */
  RAW_RETENTION_DAYS: z.coerce.number().int().min(10, 'must be at least 10').max(3650).default(400),
  /** Daily reference rates in the European Central Bank's XML; empty: none are fetched. */
  EXCHANGE_RATES_URL: z
    .union([z.literal(''), z.url({ protocol: /^https?$/ })])
    .default('https://www.ecb.europa.eu/stats/eurofxref/eurofxref-daily.xml'),
  /** The sender of alerts and digests by mail; empty: none are mailed. Needs the binding `MAIL` too. */
  MAIL_FROM: z.union([z.literal(''), z.email('must be an email address')]).default(''),
  TOKEN_SECRET: z.string().min(32, 'must have at least 32 characters'),
  KEY_ENCRYPTION_SECRET: z.string().min(32, 'must have at least 32 characters'),
  SESSION_SECRET: z.string().min(32, 'must have at least 32 characters'),
});

/** The variables and secrets of a deployment, checked and with their defaults. */
export type Settings = z.infer<typeof Settings>;

const parsed = new WeakMap<object, Settings>();

/** Parsed once for each `env` object, so once an isolate. Throws an error that names what is wrong, never its value. */
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
