import * as z from 'zod';
import { COST_DIMENSIONS, ofDimensions } from '#catalogue';
import { day, list, nullableText, time } from '#http/answers';
import { COST_FORMATS, type CostFormat } from './cost-files/formats/index.ts';
import { RATE_SOURCES } from './rate-book.ts';

const amount = {
  amount: z.number(),
  amount_exact: z.string().optional().meta({ description: 'Present only if `amount` may be rounded.' }),
};

const Cost = z.object({
  date: day(),
  campaign: z.string(),
  adset: nullableText(),
  creative: nullableText(),
  ...ofDimensions(COST_DIMENSIONS, () => nullableText()),
  currency: z.string(),
  ...amount,
  impressions: z.int().nullable(),
  clicks: z.int().nullable(),
  matched: z.boolean(),
  connector_id: nullableText().meta({
    description: 'The connector that fetched the row. Null if it was uploaded.',
  }),
  updated_at: time(),
});
const Amounts = z.array(z.object({ currency: z.string(), ...amount }));

const CostTotals = z.object({
  rows: z.int(),
  amounts: Amounts.meta({ description: 'What was spent, by currency.' }),
  impressions: z.int().nullable(),
  clicks: z.int().nullable(),
});
export type CostTotals = z.input<typeof CostTotals>;
const CostsPage = list(Cost);
export type CostsPage = z.input<typeof CostsPage>;
export const CostsListed = CostsPage.extend({
  totals: CostTotals.nullable().meta({
    description: 'Of all rows that match the query, on whatever page. Null but on the first page.',
  }),
});

export const CostsSaved = z.object({
  rows: z.int().meta({ description: 'The same as `stored`.' }),
  read: z.int().meta({ description: 'Rows that were sent.' }),
  stored: z.int().meta({ description: 'Rows that are stored: those of the same key are added up to one.' }),
  skipped: z
    .array(z.object({ line: z.int(), reason: z.string() }))
    .meta({ description: 'Lines of a file that are not stored, such as its totals, and why.' }),
  amounts: Amounts.meta({ description: 'What is stored, by currency.' }),
  replaced: z.int().meta({
    description:
      'Rows of earlier uploads that were deleted, because they state more or fewer of country, OS and network for the same money: see the request.',
  }),
  matched: z.int().meta({ description: 'Rows whose campaign, ad set and creative exist.' }),
  unmatched: z.int().meta({ description: 'All other rows. They count as spend too.' }),
  unmatched_names: z
    .array(z.object({ campaign: z.string(), adset: nullableText(), creative: nullableText() }))
    .meta({ description: 'The first 20 unmatched names.' }),
});
export type CostsSaved = z.input<typeof CostsSaved>;

export const CostFileSaved = CostsSaved.extend({
  ignored_columns: z
    .array(z.string())
    .meta({ description: 'The headings of columns of which nothing is stored.' }),
  format: z
    .enum(Object.keys(COST_FORMATS) as CostFormat[])
    .nullable()
    .meta({
      description: 'Whose export it was read as. Null if the request said which column is which.',
    }),
  network: nullableText().meta({
    description: 'The network of its rows, if only its exports look like this.',
  }),
});
export type CostFileSaved = z.input<typeof CostFileSaved>;

export const CostColumnsKnown = z.object({
  columns: z
    .record(z.string(), z.string())
    .nullable()
    .meta({ description: 'The heading of each field. Null if nobody said which column is which.' }),
});

export const CostsDeleted = z.object({
  deleted: z.int(),
  amounts: Amounts,
});
export type CostsDeleted = z.input<typeof CostsDeleted>;

const ExchangeRate = z.object({
  date: day(),
  currency: z.string(),
  base: z.string(),
  rate: z.number(),
  units: z.string(),
  worth: z.string(),
  source: z.enum(RATE_SOURCES),
});
export const RatesListed = list(ExchangeRate);
export type RatesListed = z.input<typeof RatesListed>;

export const RatesSaved = z.object({ date: day(), base: z.string(), rates: z.int() });
