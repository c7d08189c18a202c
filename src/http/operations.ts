import * as z from 'zod';

// Shared by every module's `operations.ts`. Those files describe their module's routes for the OpenAPI document and are loaded only
// with it: handlers import nothing but types from them.

export type Operation = {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** In OpenAPI's format: `/v1/events/{event_id}`. */
  path: string;
  tag: string;
  summary: string;
  description?: string;
  /** The document's security schemes, of which one suffices; null for a route that needs no credential. */
  credential: 'apiKey' | 'apiOrBearerKey' | 'teamToken' | 'metricsToken' | 'assistantToken' | null;
  parameters?: { query?: z.ZodObject; path?: z.ZodObject; header?: z.ZodObject };
  /** The JSON body. A test sends every example. */
  body?: { schema: z.ZodType; examples: Record<string, unknown> };
  /** A body that is text: an example of each content type. */
  text?: Record<string, string>;
  answer: {
    status: number;
    description: string;
    schema?: z.ZodType;
    /** Examples of other content types, keyed by type. */
    more?: Record<string, string>;
  };
  /** Other answers that are not errors or not JSON. */
  otherAnswers?: Record<
    number,
    { description: string; content?: Record<string, { schema: { type: 'string' } }> }
  >;
  /** Errors in addition to those that every route with its credential may return. */
  errors?: Partial<Record<400 | 401 | 403 | 404 | 409 | 413, string>>;
  /** The error body, if it is not the API's own. */
  failure?: z.ZodType;
};

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

/** Adds an example to each field of a query schema, the same schema that validates requests. */
export function withExamples(query: z.ZodObject, examples: Record<string, unknown>): z.ZodObject {
  return z.object(
    Object.fromEntries(
      Object.entries(query.shape).map(([name, field]) => [
        name,
        examples[name] === undefined ? field : (field as z.ZodType).meta({ example: examples[name] }),
      ]),
    ),
  );
}

/** The only parameter of a path. */
export const inPath = (name: string, example: string) => ({
  path: z.object({ [name]: z.string().meta({ example }) }),
});

/** The error of a route for something that the team does not have. */
export const missing = (what: string) => ({ 404: `${what} not found.` });

/** A page of a list. */
export const list = <Item extends z.ZodType>(item: Item) =>
  z.object({ data: z.array(item), next_cursor: nullableText() });

export const time = () => z.iso.datetime();
export const day = () => z.iso.date();
export const nullableText = () => z.string().nullable();

export const faults = z.array(z.object({ path: z.string(), message: z.string() }));

/** The body of an error of the team API. */
export const TeamFailure = z.object({ message: z.string() }).meta({ id: 'TeamError' });
export type TeamFailure = z.input<typeof TeamFailure>;

/** The ingestion API's error body, and that of every route that does not set another. */
export const Failure = z
  .object({ success: z.literal(false), error: z.string(), details: faults.optional() })
  .meta({ id: 'IngestionError' });
export type Failure = z.input<typeof Failure>;
