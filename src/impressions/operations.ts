import * as z from 'zod';
import { EXAMPLE, type Operation } from '#http/operations';
import { ImpressionReceived } from './answers.ts';

export const operations: Operation[] = [
  {
    tag: 'Impressions',
    method: 'get',
    path: '/impression/{secret}',
    credential: null,
    summary: 'Receive an ad impression of mediation',
    description:
      "For the callbacks of mediation platforms, such as AppLovin MAX and TradPlus. The secret is the application's intake secret. Its `impression_template` says which query parameter has the amount, the id and the rest. A callback that is repeated with the same id counts once. An impression of an unknown device counts by network and day, but for no device.",
    parameters: {
      path: z.object({
        secret: z.string().meta({ example: EXAMPLE.intakeSecret }),
      }),
      query: z.looseObject({
        id: z.string().optional().meta({ example: 'e1' }),
        revenue: z.string().optional().meta({ example: '0.0125' }),
      }),
    },
    answer: { status: 200, description: 'The impression is in the queue.', schema: ImpressionReceived },
    errors: {
      400: 'The callback has no amount or no id where the template says, or the application has no template.',
      401: 'The secret is unknown or was replaced.',
      403: 'The data collection of the application is off.',
    },
  },
];
