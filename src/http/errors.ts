import { HTTPException } from 'hono/http-exception';
import { matchedRoutes, routePath } from 'hono/route';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { noteNewerFile } from '#db';
import { newerFormatIn } from '#lib/encoding/store-formats';
import type { Fault } from '#lib/input/fields';
import { logError, underlying } from '#lib/log';
import type { Failure, TeamFailure } from './answers.ts';
import type { AppContext } from './context.ts';

/** Every error code and its status. */
const STATUS = {
  invalid_request: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  too_large: 413,
  unsupported_media: 415,
  rate_limited: 429,
  internal: 500,
  unavailable: 500,
} as const satisfies Record<string, ContentfulStatusCode>;

export type ErrorCode = keyof typeof STATUS;

/** An error whose message is shown to the caller. Anything else that is thrown becomes `internal` with a fixed text. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly details: Fault[];
  readonly headers: Record<string, string>;

  constructor(
    code: ErrorCode,
    message: string,
    more: { details?: Fault[]; headers?: Record<string, string> } = {},
  ) {
    super(message);
    this.code = code;
    this.details = more.details ?? [];
    this.headers = more.headers ?? {};
  }
}

/** Field names come from the caller: without this limit, an answer could be larger than its request. */
const MAX_FAULTS = 20;
const MAX_PATH_LENGTH = 256;

/** A 400 that lists the first 20 faults, each with the path of its field. */
export function invalidRequest(faults: readonly Fault[]): AppError {
  const details = faults
    .slice(0, MAX_FAULTS)
    .map(({ path, message }) => ({ path: path.slice(0, MAX_PATH_LENGTH), message }));
  return new AppError('invalid_request', describeFaults(details), { details });
}

export function describeFaults(details: Fault[]): string {
  return details.map(({ path, message }) => (path === '' ? message : `${path} ${message}`)).join('; ');
}

export const accessDenied = () => new AppError('forbidden', 'Access denied for this resource');

/** A temporary failure. Tells the caller when to retry. */
export const unavailable = () =>
  new AppError('unavailable', 'Unexpected error', { headers: { 'Retry-After': '1' } });

/** Turns anything thrown into an error that the caller may see. Unknown errors become `internal`. */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (error instanceof HTTPException && error.status === 400) {
    return invalidRequest([{ path: '', message: 'The body is not valid JSON' }]);
  }
  const newer = newerFormatIn(error);
  if (newer !== null) return new AppError('unavailable', newer, { headers: { 'Retry-After': '60' } });
  return new AppError('internal', 'Unexpected error');
}

/** The error body of every API that has no other. */
export const failure = ({ code, message, details }: AppError): Failure => ({
  success: false,
  error: message,
  ...(code === 'invalid_request' ? { details } : {}),
});

/** The team API's error body. */
export const teamFailure = ({ message }: AppError): TeamFailure => ({ message });

export type ErrorBody = (error: AppError, path: string) => Record<string, unknown>;

/** The anchor of a route on the documentation page: `POST`, `/webhook/batch` → `post-webhook-batch`. */
export const documentationAnchor = (method: string, route: string) =>
  `${method} ${route}`
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');

/** Links to the documentation of the matched route, if any. Never of the path, which may contain a token. */
function linkToDocumentation(c: AppContext): void {
  const route = routePath(c, -1);
  // What is registered for all methods refuses those that are not documented.
  const isDocumented = matchedRoutes(c).some(({ method, path }) => path === route && method !== 'ALL');
  if (route.includes('*') || !isDocumented) return;
  c.header('Link', `</docs#${documentationAnchor(c.req.method, route)}>; rel="help"`);
}

/** Logs an unknown error, sets the error's headers on the answer, and returns the error with its status. */
export function takeError(c: AppContext, thrown: unknown): { error: AppError; status: ContentfulStatusCode } {
  const error = toAppError(thrown);
  const newer = newerFormatIn(thrown);
  if (newer !== null) c.executionCtx.waitUntil(noteNewerFile(c.env.DB, newer));
  if (error.code === 'internal') {
    const cause = underlying(thrown);
    const stack = cause instanceof Error ? cause.stack : String(cause);
    // The route's pattern, because a path may contain a token.
    logError('request failed', stack, { request_id: c.get('requestId'), route: routePath(c, -1) });
  }
  for (const [name, value] of Object.entries(error.headers)) c.header(name, value);
  return { error, status: STATUS[error.code] };
}

/** Answers any error with its status and the body that its API describes it with. */
export function answerError(c: AppContext, thrown: unknown, describe: ErrorBody): Response {
  const { error, status } = takeError(c, thrown);
  linkToDocumentation(c);
  return c.json(describe(error, c.req.path), status);
}
