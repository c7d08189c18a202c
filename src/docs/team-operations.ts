import * as z from 'zod';
import { CreativeChanges, ListQuery, NewCreative } from '#creatives';
import { DeletedApplication } from '#deletion';
import { EventsQuery } from '#events';
import { listQuery } from '#http';
import { ApplicationChanges, NewApiKey, NewApplication } from '#teams';
import {
  Adset,
  ApiKey,
  Application,
  ApplicationDeleted,
  AttributionExplained,
  Campaign,
  Creative,
  CreativeMade,
  DeviceErased,
  EventStatus,
  Events,
  list,
  NewApplicationAnswer,
  TokenRevoked,
} from './answers.ts';
import { EXAMPLE } from './examples.ts';
import { MONEY_OPERATIONS } from './money-operations.ts';
import type { Operation } from './operation.ts';
import { withExamples } from './with-examples.ts';

const credential = 'teamToken' as const;
const notFound = { 404: "There is none, or it is another team's." };

const inPath = (name: string, example: string) => ({
  path: z.object({ [name]: z.string().meta({ example }) }),
});
const ofApplication = withExamples(ListQuery, { application_id: EXAMPLE.application, limit: 50, cursor: '' });

const APPLICATIONS: Operation[] = [
  {
    method: 'get',
    path: '/v1/applications',
    summary: 'List the applications',
    parameters: { query: withExamples(listQuery, { limit: 50, cursor: '' }) },
    answer: { status: 200, description: 'A page, oldest first.', schema: list(Application) },
  },
  {
    method: 'post',
    path: '/v1/applications',
    summary: 'Create an application',
    body: {
      schema: NewApplication,
      examples: { game: { name: 'My game', timezone: 'Europe/Berlin', currency: 'eur' } },
    },
    answer: {
      status: 201,
      description: 'The application with its API key, which is shown this once.',
      schema: NewApplicationAnswer,
    },
  },
  {
    method: 'get',
    path: '/v1/applications/{id}',
    summary: 'Show an application',
    parameters: inPath('id', EXAMPLE.application),
    answer: { status: 200, description: 'The application.', schema: Application },
    errors: notFound,
  },
  {
    method: 'patch',
    path: '/v1/applications/{id}',
    summary: 'Change an application',
    description: 'Takes effect everywhere within 60 s.',
    parameters: inPath('id', EXAMPLE.application),
    body: {
      schema: ApplicationChanges,
      examples: {
        store: { android_store_url: 'https://play.google.com/store/apps/details?id=com.example.game' },
      },
    },
    answer: { status: 200, description: 'The application as it is now.', schema: Application },
    errors: notFound,
  },
  {
    method: 'post',
    path: '/v1/applications/{id}/api-key',
    summary: 'Replace the API key',
    parameters: inPath('id', EXAMPLE.application),
    body: { schema: NewApiKey, examples: { grace: { grace_hours: 24 } } },
    answer: { status: 201, description: 'The new key, which is shown this once.', schema: ApiKey },
    errors: notFound,
  },
  {
    method: 'delete',
    path: '/v1/applications/{id}',
    summary: 'Delete an application',
    description:
      'Deletes the application with everything of it: creatives, clicks, devices, events, raw event files, reports and costs. There is no way back. It is unknown from then on, and its keys and links end within 60 s; the rest is cleared in the background: `data` is `pending` until it is gone. Repeatable while it is.',
    parameters: inPath('id', EXAMPLE.retiredApplication),
    body: { schema: DeletedApplication, examples: { name: { name: 'Retired game' } } },
    answer: { status: 200, description: 'It is deleted.', schema: ApplicationDeleted },
    errors: notFound,
  },
].map((operation) => ({ ...operation, credential, tag: 'Applications' }) as Operation);

const CREATIVES: Operation[] = [
  {
    method: 'post',
    path: '/v1/creatives',
    summary: 'Create a creative',
    description:
      'Makes or reuses the campaign and the ad set of these names; without a name those of the week (`Week 12`) and the weekday (`Monday`).',
    parameters: {
      header: z.object({
        'Idempotency-Key': z.string().max(128).optional().meta({
          description: 'A repeat gives the first answer again, with `Idempotent-Replayed: true`.',
        }),
      }),
    },
    body: {
      schema: NewCreative,
      examples: {
        named: { creative: 'Cat video', app_api_key: EXAMPLE.apiKey, campaign: 'Spring', adset: 'Young' },
        minimal: { creative: 'Cat video', app_api_key: EXAMPLE.apiKey },
      },
    },
    answer: { status: 201, description: 'The creative with its tracking link.', schema: CreativeMade },
    errors: { 409: 'The same `Idempotency-Key` came with another body.' },
  },
  {
    method: 'get',
    path: '/v1/creatives',
    summary: 'List the creatives',
    parameters: { query: ofApplication },
    answer: { status: 200, description: 'A page, oldest first, archived ones too.', schema: list(Creative) },
    errors: notFound,
  },
  {
    method: 'patch',
    path: '/v1/creatives/{id}',
    summary: 'Archive a creative',
    description: 'Its tracking link keeps working.',
    parameters: inPath('id', EXAMPLE.creative),
    body: { schema: CreativeChanges, examples: { archive: { archived: true } } },
    answer: { status: 200, description: 'The creative as it is now.', schema: Creative },
    errors: notFound,
  },
  {
    method: 'get',
    path: '/v1/campaigns',
    summary: 'List the campaigns',
    parameters: { query: ofApplication },
    answer: { status: 200, description: 'A page, oldest first.', schema: list(Campaign) },
    errors: notFound,
  },
  {
    method: 'get',
    path: '/v1/adsets',
    summary: 'List the ad sets',
    parameters: { query: ofApplication },
    answer: { status: 200, description: 'A page, oldest first.', schema: list(Adset) },
    errors: notFound,
  },
].map((operation) => ({ ...operation, credential, tag: 'Creatives' }) as Operation);

const EVENTS: Operation[] = [
  {
    method: 'get',
    path: '/v1/events',
    summary: 'List raw events, newest first',
    description:
      'Days are those of the application. A page may be short before the end: go on until there is no cursor. As NDJSON or CSV the cursor of the next page stands in the header `X-Next-Cursor`.',
    parameters: {
      query: withExamples(EventsQuery, {
        application_id: EXAMPLE.application,
        type: 'custom.ad',
        from: EXAMPLE.from,
        to: EXAMPLE.to,
        token: EXAMPLE.token,
        format: 'json',
        limit: 50,
        cursor: '',
      }),
    },
    answer: {
      status: 200,
      description: 'A page of events.',
      schema: Events,
      more: {
        'application/x-ndjson': `{"event_id":"${EXAMPLE.event}","type":"custom.ad"}\n`,
        'text/csv': `event_id,type\r\n${EXAMPLE.event},custom.ad\r\n`,
      },
    },
    errors: notFound,
  },
  {
    method: 'get',
    path: '/v1/events/{event_id}',
    summary: 'Follow one event',
    parameters: inPath('event_id', EXAMPLE.event),
    answer: { status: 200, description: 'What became of it, and when.', schema: EventStatus },
    errors: { 404: "There is none, its device was erased, or it is another team's." },
  },
  {
    method: 'get',
    path: '/v1/devices/{token}/attribution',
    summary: 'Explain the attribution of a device',
    parameters: inPath('token', EXAMPLE.token),
    answer: {
      status: 200,
      description: 'How it was attributed, and the clicks that were weighed.',
      schema: AttributionExplained,
    },
    errors: { 404: "There is none, it was erased, or it is another team's." },
  },
  {
    method: 'delete',
    path: '/v1/tokens/{token}',
    summary: 'Revoke a token',
    description:
      'For a token that leaked. `/verify-token` refuses it at once; events sent with it from now on are answered but not counted. Its device keeps what it has; another token of it goes on. Repeatable.',
    parameters: inPath('token', EXAMPLE.token),
    answer: { status: 200, description: 'When it was revoked.', schema: TokenRevoked },
    errors: { 404: "There is none, or it is another team's." },
  },
  {
    method: 'delete',
    path: '/v1/devices/{token}',
    summary: 'Erase a device',
    description:
      'Erases what is stored of the device of this token: its state, tokens, click and raw events. The totals stay; later events of it are not counted. Exported raw event files are rewritten in the background; call again until `files` is `done`.',
    parameters: inPath('token', EXAMPLE.token),
    answer: { status: 200, description: 'How much was erased.', schema: DeviceErased },
    errors: { 404: "There is no such device, or it is another team's." },
  },
].map((operation) => ({ ...operation, credential, tag: 'Events' }) as Operation);

export const TEAM_OPERATIONS: Operation[] = [...APPLICATIONS, ...CREATIVES, ...MONEY_OPERATIONS, ...EVENTS];
