import { EXAMPLE, inPath, missing, type Operation, withExamples } from '#http/operations';
import { ApiKey, Application, Applications, CreatedApplication, IntakeSecret } from './answers.ts';
import { ApplicationChanges, ApplicationsQuery, NewApplication, Replacement } from './applications.ts';

const shared = { credential: 'teamToken', tag: 'Applications' } as const;

const notFound = missing('Application');

const TAKEN = 'the App Store app of `ios_store_url` belongs to another application of the deployment';

export const operations: Operation[] = [
  {
    ...shared,
    method: 'get',
    path: '/v1/applications',
    summary: 'List applications',
    parameters: { query: withExamples(ApplicationsQuery, { limit: 50, cursor: '' }) },
    answer: { status: 200, description: 'A page of applications, oldest first.', schema: Applications },
  },
  {
    ...shared,
    method: 'post',
    path: '/v1/applications',
    summary: 'Create an application',
    body: {
      schema: NewApplication,
      examples: { game: { name: 'My game', timezone: 'Europe/Berlin', currency: 'eur' } },
    },
    answer: {
      status: 201,
      description: 'The application and its API key. The key is shown only once.',
      schema: CreatedApplication,
    },
    errors: {
      409: `The team has 100 applications, the most that it may have, or ${TAKEN}.`,
    },
  },
  {
    ...shared,
    method: 'get',
    path: '/v1/applications/{id}',
    summary: 'Retrieve an application',
    parameters: inPath('id', EXAMPLE.application),
    answer: { status: 200, description: 'The application.', schema: Application },
    errors: notFound,
  },
  {
    ...shared,
    method: 'patch',
    path: '/v1/applications/{id}',
    summary: 'Update an application',
    description: 'Fields that you leave out keep their values. Changes take effect within 60 seconds.',
    parameters: inPath('id', EXAMPLE.application),
    body: {
      schema: ApplicationChanges,
      examples: {
        store: { android_store_url: 'https://play.google.com/store/apps/details?id=com.example.game' },
      },
    },
    answer: { status: 200, description: 'The updated application.', schema: Application },
    errors: { ...notFound, 409: `Not changed, because ${TAKEN}.` },
  },
  {
    ...shared,
    method: 'post',
    path: '/v1/applications/{id}/api-key',
    summary: 'Replace the API key',
    description: 'The previous key keeps working for `grace_hours` hours, at most 72. The default is 0.',
    parameters: inPath('id', EXAMPLE.application),
    body: { schema: Replacement, examples: { grace: { grace_hours: 24 } } },
    answer: { status: 201, description: 'The new key. It is shown only once.', schema: ApiKey },
    errors: notFound,
  },
  {
    ...shared,
    method: 'post',
    path: '/v1/applications/{id}/intake-secret',
    summary: 'Create or replace the intake secret',
    description:
      'The secret in the addresses to which stores post their notifications. The previous one keeps working for `grace_hours` hours, at most 72. The default is 0.',
    parameters: inPath('id', EXAMPLE.application),
    body: { schema: Replacement, examples: { grace: { grace_hours: 24 } } },
    answer: {
      status: 201,
      description: 'The new secret. It is shown only once.',
      schema: IntakeSecret,
    },
    errors: notFound,
  },
];
