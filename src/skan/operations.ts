import * as z from 'zod';
import { EXAMPLE, inPath, noSuch, type Operation, withExamples } from '#http/operations';
import {
  ConversionSchema,
  groupings,
  postback,
  RECEIVES,
  SKAN_EXAMPLE,
  SkanReport,
  shared,
} from './answers.ts';
import { SkanQuery } from './report.ts';
import { NewConversionSchema } from './schema.ts';

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
    errors: noSuch('application'),
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
    errors: noSuch('application'),
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
    errors: noSuch('application'),
  },
];
