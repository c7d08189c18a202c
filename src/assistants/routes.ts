import { Hono } from 'hono';
import { database } from '#db';
import { settingsOf } from '#env';
import {
  type AppContext,
  type AppEnv,
  AppError,
  addressOf,
  bearerOf,
  callerNetwork,
  findTeam,
  limitBody,
  MAX_JSON_BODY_BYTES,
  requireWithin,
} from '#http';
import { SHARE_SECRET_FORM } from '#lib/credentials';
import { findShareLink } from '#views';

/** Answers a request that the service makes of itself. */
type Within = (request: Request, env: Env, ctx: ExecutionContext) => Response | Promise<Response>;

/** What the caller's requests within the service are sent with, and the path that a share link opens; null for a team. */
type Access = { headers: Record<string, string>; sharedPath: string | null };

/** Reads the bearer token: a team access token, or the secret of a share link. Throws `unauthenticated` without a valid one. */
async function requireAccess(c: AppContext): Promise<Access> {
  const token = bearerOf(c);
  const team = await findTeam(c, token);
  if (team && token !== undefined) {
    c.set('team', team);
    return { headers: { [`${settingsOf(c.env).SERVICE_NAME}-Token`]: token }, sharedPath: null };
  }
  if (token !== undefined && SHARE_SECRET_FORM.test(token)) {
    await requireWithin(c.env.UNKNOWN_CREDENTIAL_LIMIT, callerNetwork(c));
    const link = await findShareLink(database(c.env.DB), token, Date.now());
    if (link) return { headers: {}, sharedPath: `/shared/${token}` };
  }
  throw new AppError(
    'unauthenticated',
    'Invalid or missing token: send “Authorization: Bearer” with a team access token or the secret of a share link',
    {
      headers: {
        'WWW-Authenticate': `Bearer realm="mcp"${token === undefined ? '' : ', error="invalid_token"'}`,
      },
    },
  );
}

/**
 * `POST /mcp`: the Model Context Protocol, for AI assistants. Its tools ask the service what anyone with the same credential could ask, through
 * `within`, so that limits, roles and validation are those of the API and of shared views.
 */
export const assistantRoutes = (within: Within) =>
  new Hono<AppEnv>().post('/mcp', limitBody(MAX_JSON_BODY_BYTES), async (c) => {
    const { headers, sharedPath } = await requireAccess(c);
    const { answerCall } = await import('./answer-call.ts');
    const ask = async (path: string) =>
      within(
        new Request(new URL(path, c.req.url), {
          headers: {
            ...headers,
            'X-Request-Id': c.get('requestId'),
            'CF-Connecting-IP': addressOf(c),
          },
        }),
        c.env,
        c.executionCtx as ExecutionContext,
      );
    return answerCall(c.req.raw, { ask, sharedPath, requestId: c.get('requestId') });
  });
