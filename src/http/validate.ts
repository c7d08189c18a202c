import { zValidator } from '@hono/zod-validator';
import type { MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { createMiddleware } from 'hono/factory';
import type * as z from 'zod';
import type { Fault } from '#lib/fields';
import type { AppEnv } from './context.ts';
import { AppError, invalidRequest } from './errors.ts';

/** The size limit of bodies with a single item, in bytes. */
export const MAX_JSON_BODY_BYTES = 64 * 1024;

/**
 * Refuses a body of more than `bytes` before anything else reads the request. A small declared length passes without further checks,
 * because touching the body's stream would cost more than everything else here.
 */
export function limitBody(bytes: number) {
  const counted = bodyLimit({
    maxSize: bytes,
    onError: () => {
      throw new AppError('too_large', `The body is larger than ${bytes / 1024} KiB`);
    },
  });
  return ((c, next) => {
    const declared = c.req.header('Content-Length');
    const isSmall = declared !== undefined && Number(declared) <= bytes && !c.req.header('Transfer-Encoding');
    return isSmall ? next() : counted(c, next);
  }) satisfies MiddlewareHandler;
}

/** A schema's errors as faults, each with the path of its field. */
export function toFaults(error: z.core.$ZodError): Fault[] {
  return error.issues.map((issue) => ({ path: issue.path.join('.'), message: issue.message }));
}

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;

// A request without a body is treated as `{}`, so that the answer names the required fields.
const requireJson = createMiddleware<AppEnv>((c, next) => {
  if (!JSON_TYPE.test(c.req.header('Content-Type') ?? '') && c.req.raw.body) {
    throw invalidRequest([{ path: '', message: 'The Content-Type must be application/json' }]);
  }
  return next();
});

function refuseFaults(result: { success: true } | { success: false; error: z.core.$ZodError }): void {
  if (!result.success) throw invalidRequest(toFaults(result.error));
}

/** Validates the JSON body against a schema, for `c.req.valid('json')`. Every failure is a 400 that names its fields. */
export function jsonBody<Schema extends z.ZodType>(schema: Schema) {
  return [
    requireJson,
    // None of our schemas is asynchronous, and zod is faster in synchronous mode. (The cast: zod's result type is less specific than the
    // validator's.)
    zValidator('json', schema, refuseFaults, {
      validationFunction: (known, value) => known.safeParse(value) as never,
    }),
  ] as const;
}

/** Validates the query string against a schema, for `c.req.valid('query')`. */
export function queryString<Schema extends z.ZodType>(schema: Schema) {
  return zValidator('query', schema, refuseFaults);
}
