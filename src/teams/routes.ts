import { apiCaller } from '#audit';
import { database } from '#db';
import { settingsOf } from '#env';
import { type Endpoint, EXAMPLE, endpoint, idOf, missing, pageOf } from '#http';
import { list } from '#http/answers';
import { ApiKey, Application, CreatedApplication, IntakeSecret } from './answers.ts';
import { replaceApiKey } from './api-keys.ts';
import {
  ApplicationChanges,
  ApplicationsQuery,
  changeApplication,
  createApplication,
  NewApplication,
  Replacement,
  showApplication,
} from './applications.ts';
import { replaceIntakeSecret } from './intake-secrets.ts';
import { listApplications, ownApplication } from './own-application.ts';

const shared = { credential: 'teamToken', tag: 'Applications' } as const;

const one = {
  path: '/v1/applications/{id}',
  params: { id: EXAMPLE.application },
  errors: missing('Application'),
} as const;

const replacement = {
  method: 'post',
  body: { schema: Replacement, examples: { grace: { grace_hours: 24 } } },
} as const;

const TAKEN = 'the App Store app of `ios_store_url` belongs to another application of the deployment';

export const teamEndpoints: Endpoint[] = [
  endpoint({
    ...shared,
    method: 'get',
    path: '/v1/applications',
    summary: 'List applications',
    query: { schema: ApplicationsQuery, example: { limit: 50, cursor: '' } },
    answer: { description: 'A page of applications, oldest first.', schema: list(Application) },
    async handle(c, { query: { limit, cursor } }) {
      const db = database(c.env.DB);
      const read = (rows: number) => listApplications(db, c.get('team').id, { limit: rows, cursor });
      const page = await pageOf(limit, read, idOf);
      return { ...page, data: page.data.map(showApplication) };
    },
  }),
  endpoint({
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
    async handle(c, { body }) {
      const secret = settingsOf(c.env).KEY_ENCRYPTION_SECRET;
      const { application, apiKey } = await createApplication(apiCaller(c), body, secret);
      return { ...showApplication(application), api_key: apiKey };
    },
  }),
  endpoint({
    ...{ ...shared, ...one },
    method: 'get',
    summary: 'Retrieve an application',
    answer: { description: 'The application.', schema: Application },
    handle: async (c, { params }) => showApplication(await ownApplication(c, params.id)),
  }),
  endpoint({
    ...{ ...shared, ...one },
    method: 'patch',
    summary: 'Update an application',
    description: 'Fields that you leave out keep their values. Changes take effect within 60 seconds.',
    body: {
      schema: ApplicationChanges,
      examples: {
        store: { android_store_url: 'https://play.google.com/store/apps/details?id=com.example.game' },
      },
    },
    answer: { description: 'The updated application.', schema: Application },
    errors: { ...one.errors, 409: `Not changed, because ${TAKEN}.` },
    async handle(c, { params, body }) {
      const application = await ownApplication(c, params.id);
      const secret = settingsOf(c.env).KEY_ENCRYPTION_SECRET;
      return showApplication(await changeApplication(apiCaller(c), application, body, secret));
    },
  }),
  endpoint({
    ...{ ...shared, ...one, ...replacement },
    path: '/v1/applications/{id}/api-key',
    summary: 'Replace the API key',
    description: 'The previous key keeps working for `grace_hours` hours, at most 72. The default is 0.',
    answer: { status: 201, description: 'The new key. It is shown only once.', schema: ApiKey },
    async handle(c, { params, body }) {
      const application = await ownApplication(c, params.id);
      const secret = settingsOf(c.env).KEY_ENCRYPTION_SECRET;
      return { api_key: await replaceApiKey(apiCaller(c), application, body.grace_hours, secret) };
    },
  }),
  endpoint({
    ...{ ...shared, ...one, ...replacement },
    path: '/v1/applications/{id}/intake-secret',
    summary: 'Create or replace the intake secret',
    description:
      'The secret in the addresses to which stores post their notifications. The previous one keeps working for `grace_hours` hours, at most 72. The default is 0.',
    answer: { status: 201, description: 'The new secret. It is shown only once.', schema: IntakeSecret },
    async handle(c, { params, body }) {
      const application = await ownApplication(c, params.id);
      return { intake_secret: await replaceIntakeSecret(apiCaller(c), application, body.grace_hours) };
    },
  }),
];
