import { createDocument } from 'zod-openapi';
import type { Endpoint } from '#http';
import { describeEndpoint, type Paths } from './describe-endpoint.ts';

function describePaths(endpoints: readonly Endpoint[]): Paths {
  const paths: Paths = {};
  for (const endpoint of endpoints) {
    paths[endpoint.path] = { ...paths[endpoint.path], ...describeEndpoint(endpoint) };
  }
  return paths;
}

/**
 * The OpenAPI 3.1 document, generated from the records that answer requests, in their order. `serviceName` is part of the two credential headers' names.
 * Generation takes several milliseconds, so call it once.
 */
export function openApiDocument(serviceName: string, endpoints: readonly Endpoint[]) {
  const header = (name: string, description: string) =>
    ({ type: 'apiKey', in: 'header', name: `${serviceName}-${name}`, description }) as const;
  return createDocument(
    {
      openapi: '3.1.1',
      info: {
        title: 'Attribution API',
        version: '1',
        description:
          'A server-to-server API: do not put an API key or access token into an app. Times are in UTC. Amounts are in units of their currency. Every response has an `X-Request-Id` header. Errors have a `Link` header that points to the documentation of their endpoint.',
      },
      components: {
        securitySchemes: {
          apiKey: header('api-key', 'The API key of an application.'),
          bearerKey: { type: 'http', scheme: 'bearer', description: 'The API key of an application.' },
          teamToken: header('Token', 'A team access token.'),
          metricsToken: {
            type: 'http',
            scheme: 'bearer',
            description: 'The `METRICS_TOKEN` of the deployment.',
          },
          assistantToken: {
            type: 'http',
            scheme: 'bearer',
            description: 'A team access token, or the secret of a share link: the last part of its address.',
          },
        },
      },
      // Relative: the service that serves the document.
      servers: [{ url: '/' }],
      paths: describePaths(endpoints),
    },
    {
      // A custom schema parses text (a list, a day), so the document describes it as text.
      override: ({ zodSchema, jsonSchema, io }) => {
        if (zodSchema._zod.def.type === 'custom' && io === 'input') jsonSchema.type = 'string';
      },
      allowEmptySchema: { unknown: true, custom: true },
    },
  );
}
