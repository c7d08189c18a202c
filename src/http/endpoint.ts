import type { Handler, Hono, MiddlewareHandler } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import * as z from 'zod';
import type { AppContext, AppEnv } from './context.ts';
import { requireApiKey, requireApiOrBearerKey, requireTeamToken } from './credentials.ts';
import type { AppError } from './errors.ts';
import { jsonBody, limitBody, MAX_JSON_BODY_BYTES, noQuery, queryString } from './validate.ts';

/** An endpoint: what the OpenAPI document says of it, and what answers its requests. */
export type Endpoint = {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** In OpenAPI's format: `/v1/events/{event_id}`. */
  path: string;
  /** Whether a slash at the end of the path is accepted, too. */
  acceptsSlash?: true;
  tag: string;
  summary: string;
  description?: string;
  /** The document's security schemes, of which one suffices; null for an endpoint that needs no credential. */
  credential: 'apiKey' | 'apiOrBearerKey' | 'teamToken' | 'metricsToken' | 'assistantToken' | null;
  /** An example of each parameter of the path. */
  params?: Readonly<Record<string, string>>;
  header?: z.ZodObject;
  /** The query, and examples of its parameters. */
  query?: { schema: z.ZodObject; example?: Readonly<Record<string, unknown>> };
  /** The JSON body. A test sends every example. */
  body?: { schema: z.ZodType; examples: Readonly<Record<string, unknown>> };
  /** A body that is text: an example of each content type. */
  text?: Readonly<Record<string, string>>;
  answer: {
    /** 200 unless set. */
    status?: number;
    description: string;
    schema?: z.ZodType;
    /** Examples of other content types, keyed by type. */
    more?: Readonly<Record<string, string>>;
  };
  /** Other answers that are not errors or not JSON. */
  otherAnswers?: Readonly<
    Record<number, { description: string; content?: Record<string, { schema: { type: 'string' } }> }>
  >;
  /** Errors in addition to those that every endpoint with its credential may return. */
  errors?: Partial<Record<400 | 401 | 403 | 404 | 409 | 413, string>>;
  /** The error body, if it is not the API's own. */
  failure?: z.ZodType;
  /** What a request passes, one after the other. `endpoint` makes them of a record. */
  handlers: readonly Handler[];
  /** What a request with another method passes, if it is not only refused: the debugger shows those of addresses that others call. */
  otherMethods?: readonly Handler[];
};

const CREDENTIALS = {
  apiKey: requireApiKey,
  apiOrBearerKey: requireApiOrBearerKey,
  teamToken: requireTeamToken,
};

type Input<Params, Query, Body> = { params: Params; query: Query; body: Body };

type EndpointRecord = Omit<Endpoint, 'handlers'> & {
  credential: keyof typeof CREDENTIALS | null;
  /** `refuse` makes the error for a body that the schema refuses, if it is not the usual list of faults. */
  body?: { refuse?: (error: z.core.$ZodError) => AppError };
  /** The size limit of the body in bytes, if it is not that of bodies with a single item. */
  maxBytes?: number;
  /** Run before anything else. */
  first?: readonly MiddlewareHandler[];
  /** Run once the caller is known, before its input is validated. */
  checks?: readonly MiddlewareHandler[];
  /** Answers with JSON, or with a response of another kind or status. */
  handle(c: AppContext, input: Input<Record<string, string>, unknown, unknown>): unknown;
};

/** The names in a path: `id` of `/v1/creatives/{id}`. */
type ParamOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamOf<Rest>
  : never;

type HandlerAnswer<Answer extends z.ZodType> = z.input<Answer> | Response;

/** The fields of what `handle` gives that the answer's schema does not have. */
type Undocumented<Given, Answer extends z.ZodType> = Given extends Response
  ? never
  : Exclude<keyof Given, keyof z.input<Answer>>;

/** A record whose `handle` gets the input that its schemas describe, and answers as they say. */
type TypedRecord<
  Path extends string,
  Query extends z.ZodObject,
  Body extends z.ZodType,
  Answer extends z.ZodType,
  Given extends HandlerAnswer<Answer>,
> = Omit<EndpointRecord, 'handle' | 'params'> & {
  path: Path;
  query?: { schema: Query; example?: Partial<Record<keyof z.input<Query>, unknown>> };
  body?: { schema: Body };
  answer: { schema?: Answer };
  handle(
    c: AppContext,
    input: Input<Record<ParamOf<Path>, string>, z.output<Query>, z.output<Body>>,
  ): Given | Promise<Given>;
} & ([ParamOf<Path>] extends [never] ? { params?: never } : { params: Record<ParamOf<Path>, string> }) &
  ([Undocumented<Given, Answer>] extends [never] ? unknown : { undocumented: Undocumented<Given, Answer> });

/** The check of a query. Other clients than those of the team API may send parameters that nobody asked for. */
function checkOf({ query, credential }: Pick<EndpointRecord, 'query' | 'credential'>): MiddlewareHandler[] {
  if (query) return [queryString(query.schema)];
  return credential === 'teamToken' ? [noQuery] : [];
}

function fromRecord({ handle, first = [], checks = [], maxBytes, ...described }: EndpointRecord): Endpoint {
  const { credential, body, text, answer } = described;
  const status = (answer.status ?? 200) as ContentfulStatusCode;
  const respond: Handler<AppEnv> = async (c) => {
    const input = {
      params: c.req.param(),
      query: c.req.valid('query' as never),
      body: c.req.valid('json' as never),
    };
    const answered = await handle(c, input);
    return answered instanceof Response ? answered : c.json(answered as object, status);
  };
  const handlers = [
    ...first,
    ...(body || text ? [limitBody(maxBytes ?? MAX_JSON_BODY_BYTES)] : []),
    ...(credential ? [CREDENTIALS[credential]] : []),
    ...checks,
    ...checkOf(described),
    ...(body ? jsonBody(body.schema, body.refuse) : []),
    respond,
  ];
  return { ...described, handlers };
}

/**
 * Makes an endpoint of its record. The body's size, the credential, `checks`, the query and the body are checked in this order, and then
 * `handle` gets the input.
 */
export const endpoint = <
  const Path extends string,
  Query extends z.ZodObject = z.ZodObject<Record<never, never>>,
  Body extends z.ZodType = z.ZodUndefined,
  Answer extends z.ZodType = z.ZodNever,
  Given extends HandlerAnswer<Answer> = HandlerAnswer<Answer>,
>(
  record: TypedRecord<Path, Query, Body, Answer, Given>,
): Endpoint => fromRecord(record as unknown as EndpointRecord);

/** Adds endpoints to an app. */
export function mount(app: Hono<AppEnv>, endpoints: readonly Endpoint[]): void {
  for (const { method, path, acceptsSlash, handlers, otherMethods = [] } of endpoints) {
    const route = path.replaceAll(/\{(\w+)\}/g, ':$1');
    for (const one of acceptsSlash ? [route, `${route}/`] : [route]) {
      for (const handler of handlers) app.on(method, one, handler);
      for (const handler of otherMethods) app.all(one, handler);
    }
  }
}

/** Adds an example to each field of a query schema, the same schema that validates requests. */
export function withExamples({ schema, example = {} }: NonNullable<Endpoint['query']>): z.ZodObject {
  return z.object(
    Object.fromEntries(
      Object.entries<z.ZodType>(schema.shape).map(([name, field]) => [
        name,
        example[name] === undefined ? field : field.meta({ example: example[name] }),
      ]),
    ),
  );
}

/** How the document shows a list in one text, separated by commas, which the schema that parses it cannot say. */
export const commaSeparated = (
  values: readonly string[],
  more: { maxItems?: number; default?: string[] } = {},
) => ({
  override: {
    type: 'array' as const,
    items: { type: 'string' as const, enum: [...values] },
    minItems: 1,
    ...more,
  },
  param: { style: 'form' as const, explode: false },
});

/** The error of an endpoint for something that the team does not have. */
export const missing = (what: string) => ({ 404: `${what} not found.` });

/** The ids, keys and tokens in examples. Readers substitute their own. */
export const EXAMPLE = {
  application: 'app_019a9f3c5d7a7c3e8b1f2a4c6d8e0f12',
  retiredApplication: 'app_019a9f3c5d7a7c3e8b1f2a4c6d8e0f13',
  token: 'AQGan1pdenw-ix8qTG2OD4AZqfPF16fD6LHypMbY4PEg.c2lnbmF0dXJl',
  parked: 'prk_01975f3a7c2e7b3f9a1c2d3e4f5a6b7c',
  discarded: 'prk_01975f3a7c2e7b3f9a1c2d3e4f5a6b7d',
  event: 'evt_019a9f3c6a117d0c9c3d5e7f90a1b2c3',
  campaign: 'cmp_019a9f3c6b117e1d8d4e6f8091a2b3c4',
  adset: 'ads_019a9f3c6b227e1d8d4e6f8091a2b3c5',
  creative: 'crt_019a9f3c6b227e1d8d4e6f8091a2b3c4',
  note: 'not_019a9f3c6d447e3f8f6081a3c4d5e6f7',
  intakeSecret: 'intake_c29tZSByYW5kb20gYnl0ZXMgb2YgYW4gZXhhbXBsZSBr',
  connector: 'con_019a9f3c6d667f5a9b8283c5d6e7f809',
  destination: 'dst_019a9f3c6d777f6ba9c394d6e7f8091a',
  alert: 'alr_019a9f3c6d557f4a9a7182b4d5e6f708',
  link: 'q3VbYt0GmLxwZ2nE',
  click: 'clk_019a9f3c6c337f2e9e5f7091a2b3c4d5.AZqfPGsifh2NTm-AkaKzxA.c2lnbmF0dXJlLi4u',
  apiKey: 'appkey_c29tZSByYW5kb20gYnl0ZXMgb2YgYW4gZXhhbXBsZSBr',
  from: '2026-03-01',
  to: '2026-03-31',
} as const;
