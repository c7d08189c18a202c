import { apiCaller } from '#audit';
import { database } from '#db';
import { type Endpoint, EXAMPLE, endpoint, invalidRequest, missing } from '#http';
import { ownApplication } from '#teams';
import {
  CostColumnsKnown,
  CostFileSaved,
  CostsDeleted,
  CostsListed,
  CostsSaved,
  RatesListed,
  RatesSaved,
} from './answers.ts';
import { CostColumns, CostFileQuery, readCostMap } from './cost-file-query.ts';
import { COST_FORMATS, COST_LANGUAGES } from './cost-files/formats/index.ts';
import { FILE_BYTES } from './cost-files/read-file.ts';
import { recallCostColumns, saveCostColumns } from './cost-files/remembered-columns.ts';
import { Costs, saveCosts } from './costs.ts';
import { CostsToDelete, deleteCosts } from './delete-costs.ts';
import { ExchangeRates, saveRates } from './exchange-rates.ts';
import { CostsQuery, listCosts, sumCosts } from './list-costs.ts';
import { listRates, RatesQuery } from './list-rates.ts';
import { saveCostFile } from './save-cost-file.ts';

const DELETE_BYTES = 1024 * 1024;

const FORMATS = Object.values(COST_FORMATS)
  .slice(1)
  .map(({ label }) => label)
  .join(', ');

const shared = { credential: 'teamToken', tag: 'Costs and exchange rates' } as const;

const notFound = missing('Application');

export const moneyEndpoints: Endpoint[] = [
  endpoint({
    ...shared,
    method: 'get',
    path: '/v1/costs',
    summary: 'List costs',
    description:
      'Rows are sorted by date and names, the oldest date first, or the newest with `order=newest`. `matched` says whether the application has a campaign, ad set and creative with these names. Use `unmatched=true` to list only the rows without a match.',
    query: {
      schema: CostsQuery,
      example: {
        application_id: EXAMPLE.application,
        from: EXAMPLE.from,
        to: EXAMPLE.to,
        unmatched: 'false',
        order: 'oldest',
        limit: 50,
        cursor: '',
      },
    },
    answer: { description: 'A page of rows.', schema: CostsListed },
    errors: notFound,
    async handle(c, { query }) {
      const application = await ownApplication(c, query.application_id);
      const db = database(c.env.DB);
      const [page, totals] = await Promise.all([
        listCosts(db, application, query),
        query.cursor === '' ? sumCosts(db, application, query) : null,
      ]);
      return { ...page, totals };
    },
  }),
  endpoint({
    ...shared,
    method: 'delete',
    path: '/v1/costs',
    summary: 'Delete costs',
    description:
      'Send either `rows` to delete the rows with these dates and names, or `from` and `to` to delete every row of these days, optionally of one `campaign`. Repeating the request is safe.',
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
    maxBytes: DELETE_BYTES,
    answer: {
      description: 'The number of deleted rows and their amounts by currency.',
      schema: CostsDeleted,
    },
    errors: notFound,
    async handle(c, { body }) {
      const application = await ownApplication(c, body.application_id);
      return deleteCosts(apiCaller(c), application, body);
    },
  }),
  endpoint({
    ...shared,
    method: 'get',
    path: '/v1/exchange-rates',
    summary: 'List exchange rates',
    description:
      'Newest date first. `source` is `team` for the rates that you uploaded, `reference` for the reference rates that are fetched daily, and `further` for those of currencies that the reference rates do not have. The latest rate on or before a day applies; on the same day, yours before the reference rate. A further one applies only if neither has one of the last 31 days. `units` of `currency` are worth `worth` of `base`, exactly as published. `rate` is the value of one unit, as the nearest number.',
    query: {
      schema: RatesQuery,
      example: {
        from: EXAMPLE.from,
        to: EXAMPLE.to,
        currency: 'eur',
        base: 'usd',
        limit: 50,
        cursor: '',
      },
    },
    answer: { description: 'A page of exchange rates.', schema: RatesListed },
    handle: (c, { query }) => listRates(database(c.env.DB), c.get('team').id, query),
  }),
  endpoint({
    ...shared,
    method: 'put',
    path: '/v1/costs',
    summary: 'Upload costs',
    description:
      'A row replaces the row with the same date, names, country, OS and network. Country, OS and network are optional; with them, spend, CPI and ROAS are known by them. Rows of one upload with the same date, names, country, OS and network add up. Rows of earlier uploads that may be of the same money are deleted: those with the same date and names, and for each of country, OS and network the same value or none on one side. So a day can be uploaded as a total first and by country later, or the other way round, without counting twice. Upload all rows of a day and its names at once, up to 50,000 rows and 8 MiB. With `dry_run`, rows are checked and nothing is stored, so that a large upload in several requests can be refused as a whole. Use the dates of the advertising platform; none may be later than tomorrow.',
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
            {
              date: '2026-03-02',
              campaign: 'Autumn',
              country: 'DE',
              os: 'ios',
              network: 'tiktok',
              currency: 'usd',
              amount: 80,
            },
          ],
        },
      },
    },
    maxBytes: FILE_BYTES,
    answer: {
      description: 'The number of stored rows, and the names that the application does not have.',
      schema: CostsSaved,
    },
    errors: { ...notFound, 413: 'The body is larger than 8 MiB.' },
    async handle(c, { body: { application_id, rows, dry_run } }) {
      const application = await ownApplication(c, application_id);
      return saveCosts(apiCaller(c), application, rows, { dryRun: dry_run });
    },
  }),
  endpoint({
    ...shared,
    method: 'put',
    path: '/v1/costs/columns',
    summary: 'Remember the columns of cost files',
    description:
      'Which column is which in files whose headings are of no known export. Every later file of the application with these headings is read so, however it is uploaded. Without `columns`, nothing changes, and the answer has what is remembered.',
    body: {
      schema: CostColumns,
      examples: {
        remember: {
          application_id: EXAMPLE.application,
          headings: ['Päivä', 'Kampanja', 'Summa'],
          columns: { date: 'Päivä', campaign: 'Kampanja', amount: 'Summa' },
        },
        ask: { application_id: EXAMPLE.application, headings: ['Päivä', 'Kampanja', 'Summa'] },
      },
    },
    answer: { description: 'What is remembered for these headings.', schema: CostColumnsKnown },
    errors: notFound,
    async handle(c, { body: { application_id, headings, columns } }) {
      const application = await ownApplication(c, application_id);
      const caller = apiCaller(c);
      if (columns) await saveCostColumns(caller, application, headings, columns);
      return { columns: await recallCostColumns(caller.db, application.id, headings) };
    },
  }),
  endpoint({
    ...shared,
    method: 'put',
    path: '/v1/costs/file',
    summary: 'Upload a cost file',
    description: `The same reader as the dashboard's: an export of ${FORMATS} in ${COST_LANGUAGES}, or the columns of \`PUT /v1/costs\`, as CSV with commas, semicolons, tabs or pipes in UTF-8 or UTF-16, or as an Excel file (.xlsx). The export of a network gives its rows this network. A file is stored whole or not at all, up to 50,000 rows, and faults name its lines. Totals are compared with their rows and not stored: \`skipped\` names them and whether they agree. A row that covers several days is refused, or spread evenly over them with \`spread=true\`. \`currency\` is for files that name none, \`map\` for headings that nobody knows.`,
    query: {
      schema: CostFileQuery,
      example: {
        application_id: EXAMPLE.application,
        currency: 'usd',
        spread: 'false',
      },
    },
    text: { 'text/csv': 'Day;Campaign name;Amount spent (EUR)\n2026-03-02;Spring;120,50\n' },
    maxBytes: FILE_BYTES,
    answer: {
      description: 'What is stored and what is not, and the names that the application does not have.',
      schema: CostFileSaved,
    },
    errors: { ...notFound, 413: 'The file is larger than 8 MiB.' },
    async handle(c, { query: { application_id, currency, spread, map } }) {
      const application = await ownApplication(c, application_id);
      const file = new Uint8Array(await c.req.arrayBuffer());
      const options = {
        currency: currency ?? application.currency,
        spread: spread === 'true',
        map: readCostMap(map),
      };
      const { saved, faults } = await saveCostFile(apiCaller(c), application, file, options);
      if (faults) throw invalidRequest(faults);
      return saved;
    },
  }),
  endpoint({
    ...shared,
    method: 'put',
    path: '/v1/exchange-rates',
    summary: 'Upload exchange rates',
    description:
      'The value of one unit of each currency in `base` on that date, for your team only. They complement the reference rates, which are fetched daily. An amount is converted with the rate of its day or, if there is none, the latest earlier rate. If several bases are possible, the one with the most recent rates is used; if those are equally recent, your own rates come first.',
    body: {
      schema: ExchangeRates,
      examples: { day: { date: '2026-03-02', base: 'usd', rates: { eur: 1.08, jpy: '0.00667' } } },
    },
    answer: { description: 'The number of stored rates.', schema: RatesSaved },
    async handle(c, { body }) {
      const rates = await saveRates(apiCaller(c), body);
      return { date: body.date, base: body.base, rates };
    },
  }),
];
