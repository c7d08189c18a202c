import * as z from 'zod';
import type { createDocument } from 'zod-openapi';
import { documentationAnchor, type Endpoint, withExamples } from '#http';
import { Failure, TeamFailure } from '#http/answers';

type Documented = Parameters<typeof createDocument>[0];
export type Paths = NonNullable<Documented['paths']>;

/** The errors of every endpoint that requires a credential. */
const EVERYWHERE = {
  401: 'The credential is missing or invalid.',
  429: 'Too many requests. Retry after the number of seconds in `Retry-After`.',
  500: 'Unexpected error. If `Retry-After` is present, retry after that number of seconds.',
};

const schemesOf = (credential: Endpoint['credential']) => {
  if (credential === null) return [];
  return credential === 'apiOrBearerKey' ? ['apiKey', 'bearerKey'] : [credential];
};

/** The error body of an endpoint. */
const failureOf = ({ failure, credential }: Endpoint) =>
  failure ?? (credential === 'teamToken' ? TeamFailure : Failure);

/** The examples of a path's parameters as their schema. */
const pathOf = (params: NonNullable<Endpoint['params']>) =>
  z.object(
    Object.fromEntries(Object.entries(params).map(([name, example]) => [name, z.string().meta({ example })])),
  );

/** An endpoint's parameters. */
function parametersOf({ params, query, header }: Endpoint) {
  if (!(params || query || header)) return {};
  return {
    requestParams: {
      ...(params ? { path: pathOf(params) } : {}),
      ...(query ? { query: withExamples(query) } : {}),
      ...(header ? { header } : {}),
    },
  };
}

/** The contents that are text: an example of each type. */
const textContent = (examples: Readonly<Record<string, string>> = {}) =>
  Object.fromEntries(
    Object.entries(examples).map(([type, example]) => [
      type,
      { schema: { type: 'string' as const }, example },
    ]),
  );

const jsonContent = ({ schema, examples }: NonNullable<Endpoint['body']>) => ({
  'application/json': {
    schema,
    examples: Object.fromEntries(Object.entries(examples).map(([name, value]) => [name, { value }])),
  },
});

/** An endpoint as an OpenAPI path item. */
export function describeEndpoint(endpoint: Endpoint): Paths[string] {
  const { method, tag, summary, description, credential, query, body, answer } = endpoint;
  const hasInput = body || query;
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
    ...endpoint.errors,
  };
  const failure = { 'application/json': { schema: failureOf(endpoint) } };
  const content = {
    ...(answer.schema ? { 'application/json': { schema: answer.schema } } : {}),
    ...textContent(answer.more),
  };
  const sent = { ...(body ? jsonContent(body) : {}), ...textContent(endpoint.text) };
  return {
    [method]: {
      operationId: documentationAnchor(method, endpoint.path),
      tags: [tag],
      summary,
      ...(description ? { description } : {}),
      security: schemesOf(credential).map((scheme) => ({ [scheme]: [] })),
      ...parametersOf(endpoint),
      ...(Object.keys(sent).length > 0 ? { requestBody: { required: true, content: sent } } : {}),
      responses: {
        [answer.status ?? 200]: {
          description: answer.description,
          ...(Object.keys(content).length > 0 ? { content } : {}),
        },
        ...endpoint.otherAnswers,
        ...Object.fromEntries(
          Object.entries(errors).map(([status, text]) => [status, { description: text, content: failure }]),
        ),
      },
    },
  } as Paths[string];
}
