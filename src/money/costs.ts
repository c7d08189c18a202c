import { not, sql } from 'drizzle-orm';
import type { BatchItem } from 'drizzle-orm/batch';
import * as z from 'zod';
import { auditStatement, type Caller } from '#audit';
import { costs, type Database } from '#db';
import {
  currencyCodeOfAnyDay,
  invalidRequest,
  listOfUpTo,
  optionalCount,
  optionalName,
  requiredName,
  requiredNumber,
  requiredText,
} from '#http';
import { currencyDayFault } from '#lib/currencies';
import { amountField, toNanos } from '#lib/money';
import { addDays, dayIn } from '#lib/time';
import type { ApplicationRow } from '#teams';
import type { CostsSaved } from './answers.ts';
import { CostKey, keyOf } from './cost-key.ts';
import { applyNames, type CostValues, listCostNames, MAX_COST } from './cost-names.ts';
import { otherForms, toStoredForms } from './name-forms.ts';
import { areKnown } from './names.ts';
import { insertCosts, partsOf, replacedByUpload, replacedForms, toParameter } from './store-costs.ts';

const MAX_COST_ROWS = 5_000;
const MAX_COUNT = 1e12;
const NAMES_SHOWN = 20;

/** A list of rows, as sent to `PUT` and `DELETE /v1/costs`. */
export const costRows = <Row extends z.ZodType>(row: Row) => listOfUpTo(MAX_COST_ROWS, row, 'rows');

/** A row of costs as sent. */
export const CostEntry = CostKey.extend({
  campaign: requiredName(255),
  adset: optionalName(255),
  creative: optionalName(255),
  currency: currencyCodeOfAnyDay(),
  amount: requiredNumber(MAX_COST),
  impressions: optionalCount(MAX_COUNT),
  clicks: optionalCount(MAX_COUNT),
});

/** Body of `PUT /v1/costs`. */
export const Costs = z.object({ application_id: requiredText(128), rows: costRows(CostEntry) });
export type Costs = z.infer<typeof Costs>;

/** More rows than a request of JSON has: those of a file, in one transaction. */
export const MAX_FILE_ROWS = 50_000;
/** Of a file: the number of rows is checked before. */
export const CostRows = z.object({
  rows: z.array(CostEntry).min(1, `must be a list of 1 to ${MAX_FILE_ROWS} rows`),
});

/** Spend by currency. */
function amountsOf(values: readonly CostValues[]): CostsSaved['amounts'] {
  const sums = new Map<string, bigint>();
  for (const { currency, nanos } of values) sums.set(currency, (sums.get(currency) ?? 0n) + nanos);
  return [...sums].sort().map(([currency, nanos]) => ({ currency, ...amountField('amount', nanos) }));
}

/**
 * Stores ad spend, in one transaction. Rows of the same key add up. What they add up to overwrites the stored row of that key. It also replaces stored rows
 * that may be of the same money, whether uploaded or fetched by a connector, unless the upload has them too, so that a day uploaded first as a total
 * and then by country is not counted twice; `corrects` leaves these. `alongside` are statements of the same transaction. Mapped names are replaced: see `applyNames`. Rows whose names the application does not have are stored and count as spend all the same. Throws
 * `invalid_request` for a date later than tomorrow in the application's time zone, which leaves room for platforms in other zones, for currencies that were not in force on it, and for amounts in two currencies
 * under one key. Idempotent.
 */
export async function saveCosts(
  caller: Caller,
  application: ApplicationRow,
  rows: Costs['rows'],
  { corrects = false, alongside = [] }: { corrects?: boolean; alongside?: BatchItem<'sqlite'>[] } = {},
): Promise<CostsSaved> {
  const { db, now } = caller;
  const tomorrow = addDays(dayIn(application.timezone, now), 1);
  const faults = rows.flatMap(({ date, currency }, index) => {
    if (date > tomorrow)
      return [{ path: `rows.${index}.date`, message: `must not be later than tomorrow, ${tomorrow}` }];
    const untimely = currencyDayFault(currency, date);
    return untimely === null ? [] : [{ path: `rows.${index}.currency`, message: untimely }];
  });
  if (faults.length > 0) throw invalidRequest(faults);
  const sent = rows.map((row): CostValues => {
    const { currency, amount, impressions = null, clicks = null } = row;
    return { key: keyOf(row), currency, nanos: toNanos(amount), impressions, clicks };
  });
  const [names, spelled] = await Promise.all([
    listCostNames(db, application.id),
    toStoredForms(db, application.id, sent),
  ]);
  const values = applyNames(spelled, names);
  const earlier = values.flatMap(({ key, ...row }) => otherForms(key).map((form) => ({ key: form, ...row })));
  const parts = partsOf(values).map(toParameter);
  // Everything is deleted before anything is stored, so that no part deletes what another one stores.
  const deletions = parts.map((part) =>
    db.delete(costs).where(replacedByUpload(application.id, part, corrects)),
  );
  const forms = partsOf(earlier).map((part) =>
    db.delete(costs).where(replacedForms(application.id, toParameter(part), corrects)),
  );
  const results: unknown[] = await db.batch([
    auditStatement(caller, 'costs.uploaded', `${values.length} rows of ${application.name}`),
    ...deletions,
    ...forms,
    ...parts.map((part) =>
      insertCosts(db, { applicationId: application.id, connectorId: '' }, part, { now }),
    ),
    ...parts.map((part) => unmatchedStatement(db, application.id, part)),
    ...alongside,
  ]);
  const replaced = results
    .slice(1, 1 + parts.length + forms.length)
    .reduce<number>((total, result) => total + (result as D1Result).meta.changes, 0);
  const unmatched = results
    .slice(1 + 2 * parts.length + forms.length, 1 + 3 * parts.length + forms.length)
    .flatMap((result) => result as UnmatchedRow[]);
  const count = unmatched.reduce((total, row) => total + row.rows, 0);
  return {
    rows: values.length,
    read: rows.length,
    stored: values.length,
    skipped: [],
    amounts: amountsOf(values),
    replaced,
    matched: values.length - count,
    unmatched: count,
    unmatched_names: firstNames(unmatched),
  };
}

type UnmatchedRow = { campaign: string; adset: string | null; creative: string | null; rows: number };

function unmatchedStatement(db: Database, applicationId: string, parameter: string) {
  const wanted = {
    campaign: sql<string>`wanted.value ->> 1`,
    adset: sql<string>`wanted.value ->> 2`,
    creative: sql<string>`wanted.value ->> 3`,
  };
  return db
    .select({
      campaign: wanted.campaign.as('campaign'),
      adset: sql<string | null>`nullif(${wanted.adset}, '')`.as('adset'),
      creative: sql<string | null>`nullif(${wanted.creative}, '')`.as('creative'),
      rows: sql<number>`count(*)`.as('rows'),
    })
    .from(sql`json_each(${parameter}) AS wanted`)
    .where(not(areKnown(db, applicationId, wanted)))
    .groupBy(sql`1, 2, 3`)
    .orderBy(sql`1, 2, 3`);
}

/** The first names of all parts, each once. */
function firstNames(unmatched: readonly UnmatchedRow[]): CostsSaved['unmatched_names'] {
  const names = unmatched.map(({ campaign, adset, creative }) => ({ campaign, adset, creative }));
  const byText = new Map(names.map((name) => [JSON.stringify(name), name]));
  return [...byText.values()].slice(0, NAMES_SHOWN);
}
