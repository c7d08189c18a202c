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
import { MAX_FILE_ROWS } from './cost-files/read-file.ts';
import { CostKey, keyOf, otherForms, toStoredForms } from './cost-key.ts';
import { applyNames, type CostValues, listCostNames, MAX_COST } from './cost-names.ts';
import { areKnown } from './names.ts';
import { insertCosts, partsOf, replacedByUpload, replacedForms, toParameter } from './store-costs.ts';

const MAX_COUNT = 1e12;
const NAMES_SHOWN = 20;

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
export const Costs = z.object({
  application_id: requiredText(128),
  rows: listOfUpTo(MAX_FILE_ROWS, CostEntry, 'rows'),
  dry_run: z.boolean({ error: 'must be true or false' }).default(false).meta({
    description: 'Whether the rows are only checked. Nothing is stored then.',
  }),
});
export type Costs = z.infer<typeof Costs>;

/** The rows of a file. */
export const CostRows = Costs.pick({ rows: true });

/** Spend by currency. */
function amountsOf(values: readonly CostValues[]): CostsSaved['amounts'] {
  const sums = new Map<string, bigint>();
  for (const { currency, nanos } of values) sums.set(currency, (sums.get(currency) ?? 0n) + nanos);
  return [...sums].sort().map(([currency, nanos]) => ({ currency, ...amountField('amount', nanos) }));
}

type SaveOptions = { corrects?: boolean; alongside?: BatchItem<'sqlite'>[]; dryRun?: boolean };

/**
 * Stores ad spend, in one transaction. Rows of the same key add up. What they add up to overwrites the stored row of that key. It also replaces stored rows
 * that may be of the same money, whether uploaded or fetched by a connector, unless the upload has them too, so that a day uploaded first as a total
 * and then by country is not counted twice; `corrects` leaves these. `alongside` are statements of the same transaction. `dryRun` only checks the rows: nothing is stored, and `replaced` is 0. Mapped names are replaced: see `applyNames`. Rows whose names the application does not have are stored and count as spend all the same. Throws
 * `invalid_request` for a date later than tomorrow in the application's time zone, which leaves room for platforms in other zones, for currencies that were not in force on it, and for amounts in two currencies
 * under one key. Idempotent.
 */
export async function saveCosts(
  caller: Caller,
  application: ApplicationRow,
  rows: Costs['rows'],
  { corrects = false, alongside = [], dryRun = false }: SaveOptions = {},
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
  const parts = partsOf(values).map(toParameter);
  const { replaced, unmatched } = dryRun
    ? {
        replaced: 0,
        unmatched: (
          await Promise.all(parts.map((part) => unmatchedStatement(db, application.id, part)))
        ).flat(),
      }
    : await storeParts(caller, application, values, parts, { corrects, alongside });
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

/** Stores rows in place of those that they replace. Returns how many those were, and which names the application does not have. */
async function storeParts(
  caller: Caller,
  application: ApplicationRow,
  values: readonly CostValues[],
  parts: readonly string[],
  { corrects, alongside }: { corrects: boolean; alongside: BatchItem<'sqlite'>[] },
): Promise<{ replaced: number; unmatched: UnmatchedRow[] }> {
  const { db, now } = caller;
  const earlier = values.flatMap(({ key, ...row }) => otherForms(key).map((form) => ({ key: form, ...row })));
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
  const deleted = parts.length + forms.length;
  return {
    replaced: results
      .slice(1, 1 + deleted)
      .reduce<number>((total, result) => total + (result as D1Result).meta.changes, 0),
    unmatched: results
      .slice(1 + parts.length + deleted, 1 + 2 * parts.length + deleted)
      .flatMap((result) => result as UnmatchedRow[]),
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
