import { Costs, CostsQuery, CostsToDelete, ExchangeRates, RatesQuery } from '#money';
import { Cost, CostsDeleted, CostsTaken, ExchangeRate, list, RatesTaken } from './answers.ts';
import { EXAMPLE } from './examples.ts';
import type { Operation } from './operation.ts';
import { withExamples } from './with-examples.ts';

const credential = 'teamToken' as const;
const notFound = { 404: "There is none, or it is another team's." };

export const MONEY_OPERATIONS: Operation[] = [
  {
    method: 'get',
    path: '/v1/costs',
    summary: 'List the costs',
    description:
      'By date, the oldest first or with `order=newest` the newest, and by name within a date. `matched` tells whether the application has a campaign, ad set and creative of these names; `unmatched=true` lists only the rows for which it has not.',
    parameters: {
      query: withExamples(CostsQuery, {
        application_id: EXAMPLE.application,
        from: EXAMPLE.from,
        to: EXAMPLE.to,
        unmatched: 'false',
        order: 'oldest',
        limit: 50,
        cursor: '',
      }),
    },
    answer: { status: 200, description: 'A page of rows.', schema: list(Cost) },
    errors: notFound,
  },
  {
    method: 'delete',
    path: '/v1/costs',
    summary: 'Delete costs',
    description:
      'Either the `rows` of these dates and names, or every row from one date to another, of one campaign or of all. Repeatable.',
    body: {
      schema: CostsToDelete,
      examples: {
        rows: {
          application_id: EXAMPLE.application,
          rows: [{ date: '2026-03-02', campaign: 'Spring', adset: 'Young' }],
        },
        range: {
          application_id: EXAMPLE.application,
          from: EXAMPLE.from,
          to: EXAMPLE.to,
          campaign: 'Autumn',
        },
      },
    },
    answer: {
      status: 200,
      description: 'How many rows were deleted, and their amounts by currency.',
      schema: CostsDeleted,
    },
    errors: notFound,
  },
  {
    method: 'get',
    path: '/v1/exchange-rates',
    summary: 'List the exchange rates',
    description:
      'Newest date first: your own rates (`team`) and the reference rates that are fetched daily (`reference`). `units` of `currency` were worth `worth` of `base`, exactly as they were published; `rate` is the nearest number for one unit.',
    parameters: {
      query: withExamples(RatesQuery, {
        from: EXAMPLE.from,
        to: EXAMPLE.to,
        currency: 'eur',
        base: 'usd',
        limit: 50,
        cursor: '',
      }),
    },
    answer: { status: 200, description: 'A page of rates.', schema: list(ExchangeRate) },
  },
  {
    method: 'put',
    path: '/v1/costs',
    summary: 'Upload costs',
    description:
      'A row overwrites the one with the same date and names. Dates are as the advertising platform has them.',
    body: {
      schema: Costs,
      examples: {
        day: {
          application_id: EXAMPLE.application,
          rows: [
            {
              date: '2026-03-02',
              campaign: 'Spring',
              adset: 'Young',
              currency: 'eur',
              amount: 120.5,
              clicks: 830,
            },
            { date: '2026-03-02', campaign: 'Autumn', currency: 'usd', amount: 80 },
          ],
        },
      },
    },
    answer: {
      status: 200,
      description: 'How many rows were stored, and which names are unknown.',
      schema: CostsTaken,
    },
    errors: notFound,
  },
  {
    method: 'put',
    path: '/v1/exchange-rates',
    summary: 'Upload exchange rates',
    description:
      'What one unit of each currency was worth in `base` that day, for your team. Reference rates are fetched daily beside them. An amount is converted with the rate of its day, else with the latest earlier one, never with a later one; of several bases the one with the freshest pair of rates counts, then your own.',
    body: {
      schema: ExchangeRates,
      examples: { day: { date: '2026-03-02', base: 'usd', rates: { eur: 1.08, jpy: '0.00667' } } },
    },
    answer: { status: 200, description: 'How many rates were stored.', schema: RatesTaken },
  },
].map((operation) => ({ ...operation, credential, tag: 'Costs and exchange rates' }) as Operation);
