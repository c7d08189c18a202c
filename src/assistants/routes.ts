import * as z from 'zod';
import { database } from '#db';
import { settingsOf } from '#env';
import {
  type AppContext,
  AppError,
  addressOf,
  bearerOf,
  callerNetwork,
  type Endpoint,
  findTeam,
  limitBody,
  MAX_JSON_BODY_BYTES,
  requireWithin,
} from '#http';
import { Failure } from '#http/answers';
import { SHARE_SECRET_FORM } from '#lib/credentials';
import { findShareLink } from '#views';
import { RpcFailure, RpcRequest, RpcResult } from './answers.ts';

/** Answers a request that the service makes of itself. */
type AnswerInternally = (request: Request, env: Env, ctx: ExecutionContext) => Response | Promise<Response>;

/** What the caller's requests within the service are sent with, and the path that a share link opens; null for a team. */
type AssistantAccess = { headers: Record<string, string>; sharedPath: string | null };

/** Reads the bearer token: a team access token, or the secret of a share link. Throws `unauthenticated` without a valid one. */
async function requireAccess(c: AppContext): Promise<AssistantAccess> {
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

const call = (method: string, params?: Record<string, unknown>) => ({
  jsonrpc: '2.0',
  id: 1,
  method,
  ...(params ? { params } : {}),
});

const answerAssistant = (within: AnswerInternally) => async (c: AppContext) => {
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
};

/**
 * The Model Context Protocol, for AI assistants. Its tools ask the service what anyone with the same credential could ask, through
 * `within`, so that limits, roles and validation are those of the API and of shared views.
 */
export const assistantEndpoints = (within: AnswerInternally): Endpoint[] => [
  {
    method: 'post',
    path: '/mcp',
    tag: 'Assistants',
    summary: 'Answer an AI assistant',
    description:
      'A server of the [Model Context Protocol](https://modelcontextprotocol.io) (streamable HTTP, stateless) with read-only tools: `list_applications`, `describe_metrics`, `report`, `compare`, `explain_device` and `search`. Assistants list the tools and their parameters themselves. Each call of a tool counts like the request of the team API that it makes. A share link has the tools `report`, which answers what its page shows, and `describe_metrics`.',
    credential: 'assistantToken',
    body: {
      schema: RpcRequest,
      examples: {
        'list the tools': call('tools/list'),
        'call a tool': call('tools/call', { name: 'list_applications', arguments: {} }),
      },
    },
    answer: { description: 'The result of the call.', schema: RpcResult },
    otherAnswers: { 202: { description: 'A notification was accepted.' } },
    failure: z.union([Failure, RpcFailure]),
    handlers: [limitBody(MAX_JSON_BODY_BYTES), answerAssistant(within)],
  },
];
