import { EXAMPLE, inPath, missing, type Operation } from '#http/operations';
import { ApplicationDeleted } from './answers.ts';
import { DeletedApplication } from './delete-application.ts';

export const operations: Operation[] = [
  {
    credential: 'teamToken',
    tag: 'Applications',
    method: 'delete',
    path: '/v1/applications/{id}',
    summary: 'Delete an application',
    description:
      "Permanently deletes an application and all its data: creatives, clicks, devices, events, raw event files, reports and costs. This cannot be undone. The body must contain the application's name. The application disappears at once, and its keys and links stop working within 60 seconds. Its data is deleted in the background; repeat the request until `data` is `done`.",
    parameters: inPath('id', EXAMPLE.retiredApplication),
    body: { schema: DeletedApplication, examples: { name: { name: 'Retired game' } } },
    answer: { status: 200, description: 'The application is deleted.', schema: ApplicationDeleted },
    errors: missing('Application'),
  },
];
