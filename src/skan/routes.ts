import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import * as z from 'zod';
import { apiCaller } from '#audit';
import { database, POSTBACK_DAYS } from '#db';
import {
  AppError,
  callerNetwork,
  type Endpoint,
  EXAMPLE,
  endpoint,
  exactJsonBody,
  idListQuery,
  idOf,
  limitBody,
  MAX_JSON_BODY_BYTES,
  missing,
  pageOf,
  requiredText,
  requireReportSlot,
  requireWithin,
} from '#http';
import { list } from '#http/answers';
import { iso } from '#lib/time';
import {
  authenticateIntake,
  findByAppStoreId,
  type IntakeApplication,
  type IntakeEnv,
  ownApplication,
} from '#teams';
import { readAakPostback, unverifiedPayload } from './adattributionkit.ts';
import { AppStoreClaim, AssignedApp, ConversionSchema, PostbackReceived, SkanReport } from './answers.ts';
import { assignClaim, listAppStoreClaims, requireDeploymentOwner } from './claims.ts';
import { SKAN_EXAMPLE } from './example.ts';
import { appStoreId, type Postback } from './postback.ts';
import { storePostback } from './receive.ts';
import { answerSkanCsv, reportSkan, SkanQuery } from './report.ts';
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

/** Names the application that a refused postback claims to be for, so that its team finds it in the debugger. */
async function noteClaimedApp(c: Context<IntakeEnv>, claimed: unknown): Promise<void> {
  const id = appStoreId().safeParse(claimed);
  const application = id.success && (await findByAppStoreId(database(c.env.DB), id.data).catch(() => null));
  if (application) c.set('claimedApplicationId', application.id);
}

/** Refuses a postback of another app than that of the application whose key came with it. */
function requireOwnApp({ appStoreId: own }: IntakeApplication, { appId }: Postback): void {
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
    const body = await exactJsonBody(c);
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
    return c.json<z.input<typeof PostbackReceived>>({ success: true, message: 'Postback received' });
  };

/** What names no application is shown in the debugger of a deployment's only team. */
const claimsNothing = createMiddleware<IntakeEnv>((c, next) => {
  c.set('claimedApplicationId', '');
  return next();
});

const checks = [claimsNothing, limitBody(MAX_JSON_BODY_BYTES)] as const;

const shared = { credential: 'teamToken', tag: 'SKAdNetwork and AdAttributionKit' } as const;

/** Apple posts to the addresses with a slash at the end. */
const postback = {
  tag: shared.tag,
  method: 'post',
  credential: null,
  acceptsSlash: true,
  query: {
    schema: z.object({
      key: z.string().optional().meta({
        description:
          'The intake secret of the application, for a network that forwards postbacks: those of another app are refused, and requests are limited by application and not by address.',
      }),
    }),
  },
  errors: {
    400: 'It is malformed or not genuine, or of another app than that of `key`.',
    401: '`key` is no intake secret.',
  },
  answer: {
    description: 'The signature is genuine and the postback is stored. A repeated one counts once.',
    schema: PostbackReceived,
  },
} as const;

const RECEIVES =
  'Apple sends copies of winning postbacks here, with or without the slash at the end, and networks may forward those that they got. They are counted for the application whose `ios_store_url` has their App Store id. Until there is one, they wait for 30 days.';

const ofOwner = {
  errors: { 403: 'Not an access token that an owner of the deployment’s first team created.' },
} as const;
const OF_OWNER =
  'Only for access tokens that an owner of the first team of the deployment created and that are of this team.';

type Claim = Awaited<ReturnType<typeof listAppStoreClaims>>[number];
const showClaim = (claim: Claim): AppStoreClaim => ({
  app_store_id: claim.appStoreId,
  application_id: claim.id,
  application: claim.application,
  team_id: claim.teamId,
  team: claim.team,
  confirmed: claim.isConfirmed,
  waiting_postbacks: claim.waiting,
});

export const skanEndpoints: Endpoint[] = [
  {
    ...postback,
    path: '/.well-known/skadnetwork/report-attribution',
    summary: 'Receive a SKAdNetwork postback',
    description: `${RECEIVES} Versions 2.1 to 4.0 are verified; 1.0 and 2.0 are refused.`,
    body: { schema: z.looseObject({ version: z.string() }), examples: { coarse: SKAN_EXAMPLE } },
    handlers: [...checks, receive(SKADNETWORK)],
  },
  {
    ...postback,
    path: '/.well-known/appattribution/report-attribution',
    summary: 'Receive an AdAttributionKit postback',
    description: `${RECEIVES} Postbacks that a development key signed are tests: no report counts them.`,
    body: { schema: z.looseObject({ 'jws-string': z.string() }), examples: {} },
    handlers: [...checks, receive(ADATTRIBUTIONKIT)],
  },
  endpoint({
    ...shared,
    method: 'get',
    path: '/v1/applications/{id}/skan-schema',
    summary: 'Retrieve the conversion value schema',
    params: { id: EXAMPLE.application },
    answer: {
      description: 'The versions of the schema, the oldest first.',
      schema: ConversionSchema,
    },
    errors: missing('Application'),
    async handle(c, { params }) {
      const application = await ownApplication(c, params.id);
      return readSchema(database(c.env.DB), application.id);
    },
  }),
  endpoint({
    ...shared,
    method: 'put',
    path: '/v1/applications/{id}/skan-schema',
    summary: 'Replace the conversion value schema',
    description:
      'What conversion values mean: fine values from 0 to 63 in the first window, and coarse values in each of the three. A version applies to postbacks that arrive from `valid_from` on, in the time zone of the application, until the next version. Versions that are not in the body are removed. `revenue_max` defaults to `revenue_min`, and both to 0.',
    params: { id: EXAMPLE.application },
    body: {
      schema: NewConversionSchema,
      examples: {
        purchases: {
          versions: [
            {
              valid_from: '2026-03-01',
              currency: 'usd',
              fine: {
                '0': { event: 'install' },
                '20': { event: 'purchase', revenue_min: 0.99, revenue_max: 4.99 },
              },
              coarse: { '1': { low: {}, high: { event: 'purchase', revenue_min: 5, revenue_max: 50 } } },
            },
          ],
        },
      },
    },
    maxBytes: SCHEMA_BYTES,
    answer: { description: 'The stored schema.', schema: ConversionSchema },
    errors: missing('Application'),
    async handle(c, { params, body: { versions } }) {
      const application = await ownApplication(c, params.id);
      return saveSchema(apiCaller(c), application, versions);
    },
  }),
  endpoint({
    ...{ ...shared, ...ofOwner },
    method: 'get',
    path: '/v1/app-store-apps',
    summary: 'List App Store apps of all teams',
    description: `Which application has which App Store app, in the order in which the applications were created. ${OF_OWNER}`,
    query: { schema: idListQuery('app'), example: { limit: 50, cursor: '' } },
    answer: { description: 'A page of App Store apps.', schema: list(AppStoreClaim) },
    async handle(c, { query: { limit, cursor } }) {
      const db = database(c.env.DB);
      await requireDeploymentOwner(db, c.get('team'));
      const read = (rows: number) => listAppStoreClaims(db, { limit: rows, cursor });
      const page = await pageOf(limit, read, idOf);
      return { ...page, data: page.data.map(showClaim) };
    },
  }),
  endpoint({
    ...{ ...shared, ...ofOwner },
    method: 'put',
    path: '/v1/app-store-apps/{app_store_id}',
    summary: 'Confirm or move an App Store app',
    description: `Confirms that the app is the application's, so that postbacks which wait for it are counted there. If another application has the app, it loses its \`ios_store_url\`, and its postbacks of the app move within an hour. ${OF_OWNER}`,
    params: { app_store_id: '525463029' },
    body: {
      schema: z.object({ application_id: requiredText(64) }),
      examples: { confirm: { application_id: EXAMPLE.application } },
    },
    answer: { description: 'The app is the application’s.', schema: AssignedApp },
    errors: {
      ...ofOwner.errors,
      404: 'No such application, or no application has the app.',
      409: 'The application has another App Store app, or the postbacks of an earlier move are on their way.',
    },
    async handle(c, { params: { app_store_id }, body: { application_id } }) {
      await assignClaim(apiCaller(c), c.get('team'), app_store_id, application_id);
      return { app_store_id, application_id };
    },
  }),
  endpoint({
    ...shared,
    method: 'get',
    path: '/v1/reports/skan',
    summary: 'SKAdNetwork and AdAttributionKit',
    description: `Postbacks by the day on which they arrived, which is 24 hours to 6 days after a conversion window ends. They are kept for ${POSTBACK_DAYS} days. They name no device, so their figures stand apart from those of other reports. Estimates are converted with the latest rates on or before \`to\`.`,
    query: {
      schema: SkanQuery,
      example: {
        application_id: EXAMPLE.application,
        from: EXAMPLE.from,
        to: EXAMPLE.to,
        group_by: ['network', 'country'],
        currency: 'usd',
        limit: 100,
        format: 'json',
      },
    },
    answer: {
      description: 'The report.',
      schema: SkanReport,
      more: { 'text/csv': 'network,postbacks,did_win,installs\r\ncom.example,1,1,1\r\n' },
    },
    errors: missing('Application'),
    checks: [requireReportSlot],
    async handle(c, { query }) {
      const application = await ownApplication(c, query.application_id);
      const through = iso(Date.now());
      const report = await reportSkan(c.env.DB, application, query);
      if (query.format === 'json') return { ...report, counted_through: through };
      c.header('X-Counted-Through', through);
      return answerSkanCsv(c, report, application, query);
    },
  }),
];
