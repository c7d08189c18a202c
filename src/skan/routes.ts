import { type Context, Hono } from 'hono';
import { createMiddleware } from 'hono/factory';
import * as z from 'zod';
import { apiCaller } from '#audit';
import { database } from '#db';
import {
  type AppEnv,
  AppError,
  callerNetwork,
  invalidRequest,
  jsonBody,
  limitBody,
  MAX_JSON_BODY_BYTES,
  noQuery,
  queryString,
  requireReportSlot,
  requireTeamToken,
  requireWithin,
} from '#http';
import { parseExactJson } from '#lib/encoding/exact-json';
import { appStoreIdOf } from '#lib/store-urls';
import { iso } from '#lib/time';
import {
  authenticateIntake,
  findByAppStoreId,
  getApplication,
  type IntakeApplication,
  type IntakeEnv,
} from '#teams';
import { readAakPostback, unverifiedPayload } from './adattributionkit.ts';
import type { ConversionSchema, PostbackReceived, SkanReport } from './answers.ts';
import { appStoreId, type Postback } from './postback.ts';
import { storePostback } from './receive.ts';
import { reportSkan, SkanQuery, skanCsv, skanCsvHeaders } from './report.ts';
import { NewConversionSchema, readSchema, saveSchema } from './schema.ts';
import { readSkanPostback } from './skadnetwork.ts';

/** A schema has at most 50 versions of 73 values. */
const SCHEMA_BYTES = 512 * 1024;

/** How one framework's postbacks are read. */
type Framework = {
  read: (body: unknown) => Promise<Postback>;
  /** The App Store id in a postback that may be forged. */
  claimedApp: (body: unknown) => unknown;
};

const field = (name: string, body: unknown): unknown =>
  z.looseObject({ [name]: z.unknown() }).safeParse(body).data?.[name];

const SKADNETWORK: Framework = { read: readSkanPostback, claimedApp: (body) => field('app-id', body) };
const ADATTRIBUTIONKIT: Framework = {
  read: readAakPostback,
  claimedApp: (body) => field('advertised-item-identifier', unverifiedPayload(body)),
};

/** The body as JSON. Apple's devices send it, so nothing is asked of its content type. */
async function readBody(c: Context<IntakeEnv>): Promise<unknown> {
  const text = await c.req.text();
  try {
    return parseExactJson(text);
  } catch {
    throw invalidRequest([{ path: '', message: 'The body is not valid JSON' }]);
  }
}

/** Names the application that a refused postback claims to be for, so that its team finds it in the debugger. */
async function noteClaimedApp(c: Context<IntakeEnv>, claimed: unknown): Promise<void> {
  const id = appStoreId().safeParse(claimed);
  const application = id.success && (await findByAppStoreId(database(c.env.DB), id.data).catch(() => null));
  if (application) c.set('claimedApplicationId', application.id);
}

/** Refuses a postback of another app than that of the application whose key came with it. */
function requireOwnApp({ iosStoreUrl }: IntakeApplication, { appId }: Postback): void {
  const own = appStoreIdOf(iosStoreUrl);
  if (own !== null && own !== appId) throw new AppError('invalid_request', 'The postback is of another app');
}

/**
 * Receives a postback from Apple's devices, or from a network that forwards it with an intake secret as `key`. 200 once it is stored. 400 if it is
 * forged or malformed, which Apple may send again in vain; 500 if it could not be stored, after which Apple sends it again.
 */
const receive =
  ({ read, claimedApp }: Framework) =>
  async (c: Context<IntakeEnv>) => {
    const key = c.req.query('key');
    if (key === undefined) await requireWithin(c.env.CLICK_LIMIT, `postback:${callerNetwork(c)}`);
    const body = await readBody(c);
    let postback: Postback;
    try {
      const owner = key === undefined ? null : await authenticateIntake(c, key);
      postback = await read(body);
      if (owner) requireOwnApp(owner, postback);
    } catch (error) {
      if (error instanceof AppError && error.code !== 'rate_limited') {
        await noteClaimedApp(c, claimedApp(body));
      }
      throw error;
    }
    await storePostback(c.env.DB, postback, Date.now());
    return c.json<PostbackReceived>({ success: true, message: 'Postback received' });
  };

/** What names no application is shown in the debugger of a deployment's only team. */
const claimsNothing = createMiddleware<IntakeEnv>((c, next) => {
  c.set('claimedApplicationId', '');
  return next();
});

const checks = [claimsNothing, limitBody(MAX_JSON_BODY_BYTES)] as const;

/** Apple posts to the addresses with a slash at the end. */
export const postbackRoutes = new Hono<IntakeEnv>()
  .post('/.well-known/skadnetwork/report-attribution', ...checks, receive(SKADNETWORK))
  .post('/.well-known/skadnetwork/report-attribution/', ...checks, receive(SKADNETWORK))
  .post('/.well-known/appattribution/report-attribution', ...checks, receive(ADATTRIBUTIONKIT))
  .post('/.well-known/appattribution/report-attribution/', ...checks, receive(ADATTRIBUTIONKIT));

export const skanRoutes = new Hono<AppEnv>()
  .get('/v1/applications/:id/skan-schema', requireTeamToken, noQuery, async (c) => {
    const db = database(c.env.DB);
    const application = await getApplication(db, c.get('team').id, c.req.param('id'));
    return c.json<ConversionSchema>(await readSchema(db, application.id));
  })
  .put(
    '/v1/applications/:id/skan-schema',
    limitBody(SCHEMA_BYTES),
    requireTeamToken,
    ...jsonBody(NewConversionSchema),
    async (c) => {
      const caller = apiCaller(c);
      const application = await getApplication(caller.db, caller.team.id, c.req.param('id'));
      const { versions } = c.req.valid('json');
      return c.json<ConversionSchema>(await saveSchema(caller, application, versions));
    },
  )
  .get('/v1/reports/skan', requireTeamToken, requireReportSlot, queryString(SkanQuery), async (c) => {
    const query = c.req.valid('query');
    const application = await getApplication(database(c.env.DB), c.get('team').id, query.application_id);
    const through = iso(Date.now());
    const report = await reportSkan(c.env.DB, application, query);
    if (query.format === 'json') return c.json<SkanReport>({ ...report, counted_through: through });
    c.header('X-Counted-Through', through);
    for (const [header, value] of Object.entries(skanCsvHeaders(report, application, query)))
      c.header(header, value);
    return c.body(skanCsv(report, query));
  });
