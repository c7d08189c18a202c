import { apiCaller } from '#audit';
import { type Endpoint, EXAMPLE, endpoint, missing } from '#http';
import { ApplicationDeleted, DeletedApplication, deleteApplication } from './delete-application.ts';

export const deletionEndpoints: Endpoint[] = [
  endpoint({
    credential: 'teamToken',
    tag: 'Applications',
    method: 'delete',
    path: '/v1/applications/{id}',
    summary: 'Delete an application',
    description:
      "Permanently deletes an application and all its data: creatives, clicks, devices, events, raw event files, reports and costs. This cannot be undone. The body must contain the application's name. The application disappears at once, and its keys and links stop working within 60 seconds. Its data is deleted in the background; repeat the request until `data` is `done`.",
    params: { id: EXAMPLE.retiredApplication },
    body: { schema: DeletedApplication, examples: { name: { name: 'Retired game' } } },
    answer: { description: 'The application is deleted.', schema: ApplicationDeleted },
    errors: missing('Application'),
    handle: (c, { params, body }) => deleteApplication(c.env, apiCaller(c), params.id, body.name),
  }),
];
