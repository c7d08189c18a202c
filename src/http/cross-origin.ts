import { sql } from 'drizzle-orm';
import { applications, database } from '#db';
import { settingsOf } from '#env';
import type { AppContext } from './context.ts';
import { LookupCache } from './lookup-cache.ts';

// Browsers may call the ingestion endpoints from the origins that an application allows. A preflight request and a request that is refused
// before its key is known are answered for an origin that any application allows; every other answer only for the origins of its own.

/** The ingestion endpoints. */
export const INGESTION_PATHS: ReadonlySet<string> = new Set([
  '/fetch-token',
  '/verify-token',
  '/check-data-collection-status',
  '/webhook',
  '/webhook/batch',
  '/fetch-token/batch',
  '/auth',
]);

/** All origins of the deployment under one name, so that invented ones cause no lookups. */
const allOrigins = new LookupCache<ReadonlySet<string>>();
const ALL = 'all';

/** Clears this isolate's cache, as if it had just started. */
export const forgetOrigins = (): void => allOrigins.clear();

async function loadOrigins(env: Env): Promise<ReadonlySet<string>> {
  const rows = await database(env.DB.withSession())
    .selectDistinct({ origin: sql<string>`value` })
    .from(sql`${applications}, json_each(${applications.allowedOrigins})`);
  return new Set(rows.map(({ origin }) => origin));
}

async function isAllowed(c: AppContext, origin: string): Promise<boolean> {
  const application = c.get('application');
  if (application) return application.allowedOrigins.includes(origin);
  const keepAlive = (work: Promise<unknown>) => c.executionCtx.waitUntil(work);
  const origins = await allOrigins.get(ALL, Date.now(), () => loadOrigins(c.env), keepAlive);
  return origins?.has(origin) ?? false;
}

/** The answer to a preflight request from an allowed origin; null for any other request. */
export async function answerPreflight(c: AppContext): Promise<Response | null> {
  const { path, method } = c.req;
  if (method !== 'OPTIONS' || !INGESTION_PATHS.has(path)) return null;
  const origin = c.req.header('Origin');
  if (!(origin && c.req.header('Access-Control-Request-Method') && (await isAllowed(c, origin)))) return null;
  const key = `${settingsOf(c.env).SERVICE_NAME}-api-key`;
  return new Response(null, {
    status: 204,
    headers: {
      'Access-Control-Allow-Methods': 'GET, POST',
      'Access-Control-Allow-Headers': `${key}, Authorization, Content-Type, Content-Encoding, Idempotency-Key, X-Request-Id`,
      'Access-Control-Max-Age': '3600',
    },
  });
}

/** Lets the page that sent the request read the answer of an ingestion endpoint, if its origin is allowed. Never fails a request. */
export async function addCrossOrigin(c: AppContext): Promise<void> {
  const origin = c.req.header('Origin');
  if (origin === undefined || !INGESTION_PATHS.has(c.req.path)) return;
  const { headers } = c.res;
  headers.set('Vary', 'Origin');
  if (!(await isAllowed(c, origin).catch(() => false))) return;
  headers.set('Access-Control-Allow-Origin', origin);
  headers.set('Access-Control-Expose-Headers', 'X-Request-Id, X-Deep-Link, X-Warnings, Retry-After');
}
