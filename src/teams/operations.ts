import * as z from 'zod';
import {
  EXAMPLE,
  inPath,
  list,
  noSuch,
  nullableText,
  type Operation,
  time,
  withExamples,
} from '#http/operations';
import { ApplicationChanges, ApplicationsQuery, NewApiKey, NewApplication } from './applications.ts';

export const Application = z
  .object({
    id: z.string(),
    name: z.string(),
    timezone: z.string().meta({ description: 'IANA name. Reports use the days of this time zone.' }),
    currency: z.string().meta({ description: 'The reporting currency, lower-case ISO 4217.' }),
    data_collection: z.boolean(),
    ios_store_url: nullableText(),
    android_store_url: nullableText(),
    fallback_url: nullableText(),
    allowed_origins: z.array(z.string()).meta({
      description: 'The origins of web pages that may call the ingestion endpoints from a browser.',
    }),
    attribution_window_hours: z.int(),
    probabilistic_window_hours: z.int(),
    meta_referrer_key_set: z.boolean().meta({
      description:
        'Whether `meta_referrer_key` is set: the install referrer decryption key of the app at Meta. It is never shown.',
    }),
    created_at: time(),
  })
  .meta({ id: 'Application' });
export type Application = z.input<typeof Application>;

const Applications = list(Application);
export type Applications = z.input<typeof Applications>;

const CreatedApplication = z.object({ ...Application.shape, api_key: z.string() });
export type CreatedApplication = z.input<typeof CreatedApplication>;

const ApiKey = z.object({ api_key: z.string() });
export type ApiKey = z.input<typeof ApiKey>;

const shared = { credential: 'teamToken', tag: 'Applications' } as const;
const notFound = noSuch('application');
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
    body: { schema: NewApiKey, examples: { grace: { grace_hours: 24 } } },
    answer: { status: 201, description: 'The new key. It is shown only once.', schema: ApiKey },
    errors: notFound,
  },
];
