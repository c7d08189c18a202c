import type * as z from 'zod';
import type { createDocument } from 'zod-openapi';
import { Failure, FetchTokenFailure, IngestionFailure } from './answers.ts';

type Documented = Parameters<typeof createDocument>[0];
export type Paths = NonNullable<Documented['paths']>;

export type Operation = {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** As OpenAPI writes it: `/v1/events/{event_id}`. */
  path: string;
  tag: string;
  summary: string;
  description?: string;
  credential: 'apiKey' | 'bearerKey' | 'teamToken' | null;
  parameters?: { query?: z.ZodObject; path?: z.ZodObject; header?: z.ZodObject };
  body?: { schema: z.ZodType; examples: Record<string, unknown> };
  answer: {
    status: number;
    description: string;
    schema?: z.ZodType;
    more?: Record<string, string>;
    headers?: z.ZodObject;
  };
  /** Answers of other kinds that are no errors. */
  otherAnswers?: Record<
    number,
    { description: string; content?: Record<string, { schema: { type: 'string' } }> }
  >;
  /** Beside what every endpoint of its credential may answer. */
  errors?: Partial<Record<400 | 403 | 404 | 409 | 413, string>>;
};

/** `POST /webhook/batch` → `post-webhook-batch`, the anchor that the `Link` header of an error points to. */
export const anchorOf = ({ method, path }: Pick<Operation, 'method' | 'path'>) =>
  `${method} ${path}`.replaceAll(/[^a-z0-9]+/g, '-').replaceAll(/^-|-$/g, '');

const EVERYWHERE = {
  401: 'The credential is missing or wrong.',
  429: 'Too many requests; `Retry-After` says when to try again.',
  500: 'Unexpected error; try again after `Retry-After` where it is given.',
};

function failureOf({ path, credential }: Operation): z.ZodType {
  if (credential === 'teamToken') return Failure;
  return path === '/fetch-token' ? FetchTokenFailure : IngestionFailure;
}

/** What OpenAPI says of an operation. */
export function describeOperation(operation: Operation): Paths[string] {
  const { method, tag, summary, description, credential, parameters, body, answer } = operation;
  const takesInput = body || parameters?.query;
  const errors: Record<number, string> = {
    ...(credential ? EVERYWHERE : {}),
    ...(takesInput ? { 400: 'The request is invalid; the text names the fields and why.' } : {}),
    ...(body ? { 413: 'The body is too large.' } : {}),
    ...operation.errors,
  };
  const failure = { 'application/json': { schema: failureOf(operation) } };
  const content = {
    ...(answer.schema ? { 'application/json': { schema: answer.schema } } : {}),
    ...Object.fromEntries(
      Object.entries(answer.more ?? {}).map(([type, example]) => [
        type,
        { schema: { type: 'string' as const }, example },
      ]),
    ),
  };
  return {
    [method]: {
      operationId: anchorOf(operation),
      tags: [tag],
      summary,
      ...(description ? { description } : {}),
      security: credential ? [{ [credential]: [] }] : [],
      ...(parameters ? { requestParams: parameters } : {}),
      ...(body
        ? {
            requestBody: {
              required: true,
              content: {
                'application/json': {
                  schema: body.schema,
                  examples: Object.fromEntries(
                    Object.entries(body.examples).map(([name, value]) => [name, { value }]),
                  ),
                },
              },
            },
          }
        : {}),
      responses: {
        [answer.status]: {
          description: answer.description,
          ...(answer.headers ? { headers: answer.headers } : {}),
          ...(Object.keys(content).length > 0 ? { content } : {}),
        },
        ...operation.otherAnswers,
        ...Object.fromEntries(
          Object.entries(errors).map(([status, text]) => [status, { description: text, content: failure }]),
        ),
      },
    },
  } as Paths[string];
}
