import { createDocument } from 'zod-openapi';
import { operations as alerts } from '#alerts/operations';
import { operations as assistants } from '#assistants/operations';
import { operations as connectors } from '#connectors/operations';
import { operations as creatives } from '#creatives/operations';
import { operations as deletion } from '#deletion/operations';
import { operations as destinations } from '#destinations/operations';
import { operations as devices } from '#devices/operations';
import { operations as events } from '#events/operations';
import { operations as impressions } from '#impressions/operations';
import { operations as ingestion } from '#ingestion/operations';
import { operations as money } from '#money/operations';
import { operations as notes } from '#notes/operations';
import { operations as health } from '#operations/operations';
import { operations as reports } from '#reports/operations';
import { operations as skan } from '#skan/operations';
import { operations as stores } from '#stores/operations';
import { operations as teams } from '#teams/operations';
import { operations as tracking } from '#tracking/operations';
import { describeOperation, type Paths } from './describe-operation.ts';

/** In the order of the documentation page. */
const OPERATIONS = [
  ...ingestion,
  ...teams,
  ...deletion,
  ...creatives,
  ...money,
  ...notes,
  ...events,
  ...devices,
  ...reports,
  ...alerts,
  ...skan,
  ...stores,
  ...connectors,
  ...destinations,
  ...impressions,
  ...tracking,
  ...health,
  ...assistants,
];

function describePaths(): Paths {
  const paths: Paths = {};
  for (const operation of OPERATIONS) {
    paths[operation.path] = { ...paths[operation.path], ...describeOperation(operation) };
  }
  return paths;
}

/**
 * The OpenAPI 3.1 document, generated from the schemas that validate requests. `serviceName` is part of the two credential headers' names.
 * Generation takes several milliseconds, so call it once.
 */
export function openApiDocument(serviceName: string) {
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
      paths: describePaths(),
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
