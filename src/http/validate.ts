import { zValidator } from '@hono/zod-validator';
import type { Context, MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { createMiddleware } from 'hono/factory';
import type * as z from 'zod';
import { gunzip } from '#lib/encoding/deflate';
import { hasLongNumber, parseExactJson } from '#lib/encoding/exact-json';
import type { Fault } from '#lib/input/fields';
import { nearest } from '#lib/nearest';
import type { AppContext, AppEnv } from './context.ts';
import { AppError, invalidRequest } from './errors.ts';

/** The size limit of bodies with a single item, in bytes. */
export const MAX_JSON_BODY_BYTES = 64 * 1024;

const tooLarge = (bytes: number) => new AppError('too_large', `The body is larger than ${bytes / 1024} KiB`);

/**
 * Refuses a body of more than `bytes` before anything else reads the request. A small declared length passes without further checks,
 * because touching the body's stream would cost more than everything else here. `jsonBody` applies the same limit to what a compressed
 * body contains.
 */
export function limitBody(bytes: number) {
  const counted = bodyLimit({
    maxSize: bytes,
    onError: () => {
      throw tooLarge(bytes);
    },
  });
  return ((c, next) => {
    c.set('maxBodyBytes', bytes);
    const declared = c.req.header('Content-Length');
    const isSmall = declared !== undefined && Number(declared) <= bytes && !c.req.header('Transfer-Encoding');
    return isSmall ? next() : counted(c, next);
  }) satisfies MiddlewareHandler;
}

/** A schema's errors as faults, each with the path of its field. */
export function toFaults(error: z.core.$ZodError): Fault[] {
  return error.issues.map((issue) => ({ path: issue.path.join('.'), message: issue.message }));
}

/** What a schema reads from a value. Throws `invalid_request` with its faults. */
export function readAs<Schema extends z.ZodType>(schema: Schema, value: unknown): z.infer<Schema> {
  const { success, data, error } = schema.safeParse(value);
  if (!success) throw toError(error);
  return data;
}

const badBody = (message: string) => invalidRequest([{ path: '', message }]);

/** The body as JSON, for those who call without our content type. Throws `invalid_request` if it is none. */
export async function exactJsonBody(c: Context): Promise<unknown> {
  const text = await c.req.text();
  try {
    return parseExactJson(text);
  } catch {
    throw badBody('The body is not valid JSON');
  }
}

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;

const CHARSET = /;\s*charset\s*=\s*"?([^\s;"]+)/i;

function refuseMedia(what: string): never {
  throw new AppError('unsupported_media', what, { headers: { 'Accept-Encoding': 'gzip' } });
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

/** What a compressed body contains. Only for authenticated requests: this costs more than everything before it. */
function inflate(compressed: Uint8Array, encoding: string, maxBytes: number): Uint8Array {
  if (encoding !== 'gzip')
    refuseMedia(`The Content-Encoding must be gzip or absent, not ${encoding.slice(0, 64)}`);
  try {
    return gunzip(compressed, maxBytes);
  } catch (error) {
    if (error instanceof RangeError) throw tooLarge(maxBytes);
    throw badBody('The body is not valid gzip');
  }
}

/**
 * Reads the body for all later readers. `text()` of a request would replace what is not UTF-8. An absent body is not asked for, because touching
 * the body's stream takes longer than reading nothing.
 */
async function readBody(c: AppContext): Promise<void> {
  const encoding = c.req.header('Content-Encoding')?.trim().toLowerCase() || 'identity';
  const sent = new Uint8Array(await c.req.raw.arrayBuffer());
  const maxBytes = c.get('maxBodyBytes') ?? MAX_JSON_BODY_BYTES;
  const bytes = encoding === 'identity' ? sent : inflate(sent, encoding, maxBytes);
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw badBody('The body is not valid UTF-8');
  }
  // Hono's cache holds promises, whatever its type says.
  Object.assign(c.req.bodyCache, { text: Promise.resolve(text) });
  // Identifiers may come as numbers of more digits than `JSON.parse` keeps.
  if (hasLongNumber(text)) c.req.json = async () => parseExactJson(text) as never;
}

// A request without a body is treated as `{}`, so that the answer names the required fields.
const requireJson = createMiddleware<AppEnv>(async (c, next) => {
  const type = c.req.header('Content-Type') ?? '';
  if (!JSON_TYPE.test(type) && c.req.raw.body) {
    throw badBody('The Content-Type must be application/json');
  }
  const charset = CHARSET.exec(type)?.[1] ?? 'utf-8';
  if (!/^utf-?8$/i.test(charset)) refuseMedia(`The charset must be UTF-8, not ${charset.slice(0, 64)}`);
  await readBody(c);
  return next();
});

const toError = (error: z.core.$ZodError): AppError => invalidRequest(toFaults(error));

const refuseBy =
  (refusal: typeof toError) =>
  (result: { success: true } | { success: false; error: z.core.$ZodError }): void => {
    if (!result.success) throw refusal(result.error);
  };

/** Validates the JSON body against a schema, for `c.req.valid('json')`. Every failure is a 400 that names its fields, or the `refusal`. */
export function jsonBody<Schema extends z.ZodType>(schema: Schema, refusal = toError) {
  return [
    requireJson,
    // None of our schemas is asynchronous, and zod is faster in synchronous mode. (The cast: zod's result type is less specific than the
    // validator's.)
    zValidator('json', schema, refuseBy(refusal), {
      validationFunction: (known, value) => known.safeParse(value) as never,
    }),
  ] as const;
}

function refuseUnknown(sent: object, known: readonly string[]): void {
  const faults = Object.keys(sent)
    .filter((name) => !known.includes(name))
    .map((name) => {
      const meant = nearest(name, known);
      return { path: name, message: `is not a parameter here${meant ? `; did you mean ${meant}?` : ''}` };
    });
  if (faults.length > 0) throw invalidRequest(faults);
}

/**
 * Validates the query string against a schema, for `c.req.valid('query')`. A parameter that the schema does not have is refused: ignored,
 * it would give another answer than the one asked for.
 */
export function queryString<Schema extends z.ZodObject>(schema: Schema) {
  const known = Object.keys(schema.shape);
  return zValidator('query', schema, refuseBy(toError), {
    validationFunction: (own, sent) => {
      refuseUnknown(sent, known);
      return own.safeParse(sent) as never;
    },
  });
}

/** Refuses every parameter of a route that has none. */
export const noQuery = createMiddleware<AppEnv>((c, next) => {
  refuseUnknown(c.req.query(), []);
  return next();
});
