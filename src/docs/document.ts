import { createDocument } from 'zod-openapi';
import { INGESTION_OPERATIONS } from './ingestion-operations.ts';
import { describeOperation, type Operation, type Paths } from './operation.ts';
import { OPERATIONS_OPERATIONS } from './operations-operations.ts';
import { REPORT_OPERATIONS } from './report-operations.ts';
import { TEAM_OPERATIONS } from './team-operations.ts';
import { TRACKING_OPERATIONS } from './tracking-operations.ts';

const OPERATIONS: Operation[] = [
  ...INGESTION_OPERATIONS,
  ...TEAM_OPERATIONS,
  ...REPORT_OPERATIONS,
  ...TRACKING_OPERATIONS,
  ...OPERATIONS_OPERATIONS,
];

function pathsOf(operations: readonly Operation[]): Paths {
  const paths: Paths = {};
  for (const operation of operations) {
    paths[operation.path] = { ...paths[operation.path], ...describeOperation(operation) };
  }
  return paths;
}

/**
 * The OpenAPI 3.1 document, made from the schemas that validate. `serviceName` names the two credential headers.
 * Costs some milliseconds, so it is made when it is first asked for.
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
          'Server-to-server: neither credential belongs in an app. Times are UTC, amounts are in units of their currency. Every answer carries `X-Request-Id`; the `Link` header of an error points to its endpoint here.',
      },
      components: {
        securitySchemes: {
          apiKey: header('api-key', 'The API key of an application.'),
          bearerKey: { type: 'http', scheme: 'bearer', description: 'The API key of an application.' },
          teamToken: header('Token', 'A team access token.'),
        },
      },
      paths: pathsOf(OPERATIONS),
    },
    {
      // A parser of text (a list, a day) is described by the text that it takes.
      override: ({ zodSchema, jsonSchema, io }) => {
        if (zodSchema._zod.def.type === 'custom' && io === 'input') jsonSchema.type = 'string';
      },
      allowEmptySchema: { unknown: true, custom: true },
    },
  );
}
