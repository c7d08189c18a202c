import type { MiddlewareHandler } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { routePath } from 'hono/route';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Fault } from '#lib/fields';
import { logError, underlying } from '#lib/log';
import type { AppContext, AppEnv } from './context.ts';
import type { Failure, TeamFailure } from './operations.ts';

/** The closed set of what can go wrong, each with its one status. */
const STATUS = {
  invalid_request: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  too_large: 413,
  rate_limited: 429,
  internal: 500,
  unavailable: 500,
} as const satisfies Record<string, ContentfulStatusCode>;

export type ErrorCode = keyof typeof STATUS;

/** An error that a caller is told about. Everything else that is thrown becomes the fixed text of `internal`. */
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

/** More faults than these help nobody, and names of fields are the caller's own: an answer must not outgrow its request. */
const MAX_FAULTS = 20;
const MAX_PATH_LENGTH = 256;

/** A 400 whose text is made from the first 20 faults, so that every one of them names its field. */
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

/** For a failure that may be gone a moment later: the caller is told when to try again. */
export const unavailable = () =>
  new AppError('unavailable', 'Unexpected error', { headers: { 'Retry-After': '1' } });

/** What an error is to a caller: unknown ones are all the same. */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (error instanceof HTTPException && error.status === 400) {
    return invalidRequest([{ path: '', message: 'The body is not valid JSON' }]);
  }
  return new AppError('internal', 'Unexpected error');
}

/** The body of an error: the ingestion API's, and of every API that does not name another by `errorBody`. */
export const failure = ({ code, message, details }: AppError): Failure => ({
  success: false,
  error: message,
  ...(code === 'invalid_request' ? { details } : {}),
});

/** The body of an error of the team API. */
export const teamFailure = ({ message }: AppError): TeamFailure => ({ message });

export type ErrorBody = (error: AppError) => Record<string, unknown>;

/**
 * Gives the errors of the routes that follow the body that their API documents. One handler of the app asks for it, because a
 * sub-app with an `onError` of its own makes Hono wrap each of its handlers and middlewares: `/webhook` then took 4 to 11 % more CPU
 * (three runs of 48,000 requests each way by `app.request` in Node, Hono 4.13, every binding answering at once).
 */
export const shapeErrors = (body: ErrorBody): MiddlewareHandler<AppEnv> =>
  function nameErrorBody(c, next) {
    c.set('errorBody', body);
    return next();
  };

/** `POST`, `/webhook/batch` → `post-webhook-batch`: the anchor of a route on the documentation page. */
export const documentationAnchor = (method: string, route: string) =>
  `${method} ${route}`
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');

/** Links to the documentation of the matched route, if any. The path would not do: it may contain a token. */
function linkToDocumentation(c: AppContext): void {
  const route = routePath(c, -1);
  if (route.includes('*')) return;
  c.header('Link', `</docs#${documentationAnchor(c.req.method, route)}>; rel="help"`);
}

/** What a caller is told of any error, its headers set already. Unknown errors go to the log whole and become a fixed text. */
export function takeError(c: AppContext, thrown: unknown): { error: AppError; status: ContentfulStatusCode } {
  const error = toAppError(thrown);
  if (error.code === 'internal') {
    const cause = underlying(thrown);
    const stack = cause instanceof Error ? cause.stack : String(cause);
    // The route, because a path may hold a token.
    logError('request failed', stack, { request_id: c.get('requestId'), route: routePath(c, -1) });
  }
  for (const [name, value] of Object.entries(error.headers)) c.header(name, value);
  return { error, status: STATUS[error.code] };
}

/** Answers any error with its status, in the body that its API gives errors. */
export function answerError(c: AppContext, thrown: unknown): Response {
  const { error, status } = takeError(c, thrown);
  linkToDocumentation(c);
  const describe = c.get('errorBody') ?? failure;
  return c.json(describe(error), status);
}
