import type { createDocument } from 'zod-openapi';
import { documentationAnchor } from '#http';
import { Failure, type Operation, TeamFailure } from '#http/operations';

type Documented = Parameters<typeof createDocument>[0];
export type Paths = NonNullable<Documented['paths']>;

/** The errors of every operation that requires a credential. */
const EVERYWHERE = {
  401: 'The credential is missing or invalid.',
  429: 'Too many requests. Retry after the number of seconds in `Retry-After`.',
  500: 'Unexpected error. If `Retry-After` is present, retry after that number of seconds.',
};

const schemesOf = (credential: Operation['credential']) => {
  if (credential === null) return [];
  return credential === 'apiOrBearerKey' ? ['apiKey', 'bearerKey'] : [credential];
};

/** The error body of an operation. */
const failureOf = ({ failure, credential }: Operation) =>
  failure ?? (credential === 'teamToken' ? TeamFailure : Failure);

/** An operation as an OpenAPI path item. */
export function describeOperation(operation: Operation): Paths[string] {
  const { method, tag, summary, description, credential, parameters, body, answer } = operation;
  const hasInput = body || parameters?.query;
  const errors: Record<number, string> = {
    ...(credential ? EVERYWHERE : {}),
    ...(hasInput
      ? { 400: 'The request is invalid. The message names each invalid field and the reason.' }
      : {}),
    ...(body
      ? {
          413: 'The body is too large. If it is compressed, this applies to what it contains.',
          415: 'The body has an encoding other than gzip or a charset other than UTF-8.',
        }
      : {}),
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
      operationId: documentationAnchor(method, operation.path),
      tags: [tag],
      summary,
      ...(description ? { description } : {}),
      security: schemesOf(credential).map((scheme) => ({ [scheme]: [] })),
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
      ...(operation.text
        ? {
            requestBody: {
              required: true,
              content: Object.fromEntries(
                Object.entries(operation.text).map(([type, example]) => [
                  type,
                  { schema: { type: 'string' as const }, example },
                ]),
              ),
            },
          }
        : {}),
      responses: {
        [answer.status]: {
          description: answer.description,
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
