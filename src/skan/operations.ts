import * as z from 'zod';
import { EXAMPLE, inPath, missing, type Operation, withExamples } from '#http/operations';
import { ConversionSchema, PostbackReceived, SkanReport } from './answers.ts';
import { SKAN_GROUPS } from './groups.ts';
import { SkanQuery } from './report.ts';
import { NewConversionSchema } from './schema.ts';

/** Published by Apple, with a genuine signature. */
const SKAN_EXAMPLE = {
  version: '4.0',
  'ad-network-id': 'com.example',
  'source-identifier': '39',
  'app-id': 525463029,
  'transaction-id': '6aafb7a5-0170-41b5-bbe4-fe71dedf1e31',
  redownload: false,
  'source-domain': 'example.com',
  'fidelity-type': 1,
  'did-win': true,
  'coarse-conversion-value': 'high',
  'postback-sequence-index': 0,
  'attribution-signature':
    'MEUCIQD4rX6eh38qEhuUKHdap345UbmlzA7KEZ1bhWZuYM8MJwIgMnyiiZe6heabDkGwOaKBYrUXQhKtF3P/ERHqkR/XpuA=',
};

/** A list in one text, separated by commas, as the schema that validates it cannot say. */
const groupings = {
  override: {
    type: 'array',
    items: { type: 'string', enum: SKAN_GROUPS },
    minItems: 1,
    maxItems: 2,
    default: ['day'],
  },
  param: { style: 'form', explode: false },
} as const;

const shared = { credential: 'teamToken', tag: 'SKAdNetwork and AdAttributionKit' } as const;

const postback = {
  tag: shared.tag,
  method: 'post',
  credential: null,
  parameters: {
    query: z.object({
      key: z.string().optional().meta({
        description:
          'The intake secret of the application, for a network that forwards postbacks: those of another app are refused, and requests are limited by application and not by address.',
      }),
    }),
  },
  errors: {
    400: 'It is malformed or not genuine, or of another app than that of `key`.',
    401: '`key` is no intake secret.',
  },
  answer: {
    status: 200,
    description: 'The signature is genuine and the postback is stored. A repeated one counts once.',
    schema: PostbackReceived,
  },
} as const;

const RECEIVES =
  'Apple sends copies of winning postbacks here, with or without the slash at the end, and networks may forward those that they got. They are counted for the application whose `ios_store_url` has their App Store id. Until there is one, they wait for 30 days.';

export const operations: Operation[] = [
  {
    ...postback,
    path: '/.well-known/skadnetwork/report-attribution',
    summary: 'Receive a SKAdNetwork postback',
    description: `${RECEIVES} Versions 2.1 to 4.0 are verified; 1.0 and 2.0 are refused.`,
    body: { schema: z.looseObject({ version: z.string() }), examples: { coarse: SKAN_EXAMPLE } },
  },
  {
    ...postback,
    path: '/.well-known/appattribution/report-attribution',
    summary: 'Receive an AdAttributionKit postback',
    description: `${RECEIVES} Postbacks that a development key signed are tests: no report counts them.`,
    body: { schema: z.looseObject({ 'jws-string': z.string() }), examples: {} },
  },
  {
    ...shared,
    method: 'get',
    path: '/v1/applications/{id}/skan-schema',
    summary: 'Retrieve the conversion value schema',
    parameters: inPath('id', EXAMPLE.application),
    answer: {
      status: 200,
      description: 'The versions of the schema, the oldest first.',
      schema: ConversionSchema,
    },
    errors: missing('Application'),
  },
  {
    ...shared,
    method: 'put',
    path: '/v1/applications/{id}/skan-schema',
    summary: 'Replace the conversion value schema',
    description:
      'What conversion values mean: fine values from 0 to 63 in the first window, and coarse values in each of the three. A version applies to postbacks that arrive from `valid_from` on, in the time zone of the application, until the next version. Versions that are not in the body are removed. `revenue_max` defaults to `revenue_min`, and both to 0.',
    parameters: inPath('id', EXAMPLE.application),
    body: {
      schema: NewConversionSchema,
      examples: {
        purchases: {
          versions: [
            {
              valid_from: '2026-03-01',
              currency: 'usd',
              fine: {
                '0': { event: 'install' },
                '20': { event: 'purchase', revenue_min: 0.99, revenue_max: 4.99 },
              },
              coarse: { '1': { low: {}, high: { event: 'purchase', revenue_min: 5, revenue_max: 50 } } },
            },
          ],
        },
      },
    },
    answer: { status: 200, description: 'The stored schema.', schema: ConversionSchema },
    errors: missing('Application'),
  },
  {
    ...shared,
    method: 'get',
    path: '/v1/reports/skan',
    summary: 'SKAdNetwork and AdAttributionKit',
    description:
      'Postbacks by the day on which they arrived, which is 24 hours to 6 days after a conversion window ends. They name no device, so their figures stand apart from those of other reports. Estimates are converted with the latest rates on or before `to`.',
    parameters: {
      query: withExamples(
        z.object({ ...SkanQuery.shape, group_by: SkanQuery.shape.group_by.meta(groupings) }),
        {
          application_id: EXAMPLE.application,
          from: EXAMPLE.from,
          to: EXAMPLE.to,
          group_by: ['network', 'country'],
          currency: 'usd',
          limit: 100,
          format: 'json',
        },
      ),
    },
    answer: {
      status: 200,
      description: 'The report.',
      schema: SkanReport,
      more: { 'text/csv': 'network,postbacks,did_win,installs\r\ncom.example,1,1,1\r\n' },
    },
    errors: missing('Application'),
  },
];
