import { and, eq, gte, lte, type SQL, sql } from 'drizzle-orm';
import * as z from 'zod';
import { auditStatement, type Caller } from '#audit';
import { commaList, costs, hasRow, isAmong } from '#db';
import { listOfUpTo, optionalText, requiredText } from '#http';
import { nameForms } from '#lib/input/name-forms';
import { amountField } from '#lib/money';
import type { ApplicationRow } from '#teams';
import type { CostsDeleted } from './answers.ts';
import { CostKey, KEY_COLUMNS, keyOf, otherForms } from './cost-key.ts';
import { dayRange } from './list-costs.ts';

const MAX_DELETED_ROWS = 5_000;

/** Body of `DELETE /v1/costs`: either the rows with these keys, or all rows in a range of days. */
export const CostsToDelete = z
  .object({
    application_id: requiredText(128),
    rows: listOfUpTo(MAX_DELETED_ROWS, CostKey, 'rows').optional(),
    ...dayRange,
    campaign: optionalText(255),
  })
  .superRefine(({ rows, from, to, campaign }, ctx) => {
    const fault = (path: string, message: string) => ctx.addIssue({ code: 'custom', path: [path], message });
    if (rows) {
      if (from !== undefined || to !== undefined || campaign !== undefined)
        fault('rows', 'must stand alone, without from, to and campaign');
      return;
    }
    if (from === undefined) fault('from', 'is required, unless rows are given');
    if (to === undefined) fault('to', 'is required, unless rows are given');
    if (from !== undefined && to !== undefined && from > to) fault('to', 'must not be before from');
  });
export type CostsToDelete = z.infer<typeof CostsToDelete>;

/** Whole units and the remaining nanos are summed separately, so that no sum overflows 64 bits. */
const UNIT = 1_000_000_000;
/** Not a bound parameter: D1 binds every number as a REAL, which would turn the division into a floating-point one. */
const unit = sql.raw(String(UNIT));

/** Deletes rows of costs. Returns how many there were, and their amounts by currency. Idempotent. */
export async function deleteCosts(
  caller: Caller,
  application: ApplicationRow,
  body: CostsToDelete,
): Promise<CostsDeleted> {
  const { db } = caller;
  const which = and(eq(costs.applicationId, application.id), chosen(body));
  const [byCurrency] = await db.batch([
    db
      .select({
        currency: costs.currency,
        rows: sql<number>`count(*)`.as('rows'),
        units: sql<number>`sum(${costs.amount} / ${unit})`.as('units'),
        nanos: sql<number>`sum(${costs.amount} % ${unit})`.as('nanos'),
      })
      .from(costs)
      .where(which)
      .groupBy(costs.currency)
      .orderBy(costs.currency),
    auditStatement(caller, 'costs.deleted', subjectOf(application, body), hasRow(costs, which)),
    db.delete(costs).where(which),
  ]);
  return {
    deleted: byCurrency.reduce((total, { rows }) => total + rows, 0),
    amounts: byCurrency.map(({ currency, units, nanos }) => ({
      currency,
      ...amountField('amount', BigInt(units) * BigInt(UNIT) + BigInt(nanos)),
    })),
  };
}

function chosen({ rows, from = '', to = '', campaign }: CostsToDelete): SQL | undefined {
  const { day, campaign: name } = costs;
  if (rows) {
    const keys = JSON.stringify(rows.map(keyOf).flatMap((key) => [key, ...otherForms(key)]));
    const values = commaList(KEY_COLUMNS.map((_, index) => sql.raw(`value ->> ${index}`)));
    return sql`(${commaList(KEY_COLUMNS)}) IN (SELECT ${values} FROM json_each(${keys}))`;
  }
  return and(
    gte(day, from),
    lte(day, to),
    campaign === undefined ? undefined : isAmong(name, nameForms(campaign)),
  );
}

const subjectOf = ({ name }: ApplicationRow, { rows, from, to, campaign }: CostsToDelete) =>
  rows
    ? `${rows.length} rows of ${name}`
    : `${from} to ${to}${campaign === undefined ? '' : `, campaign ${campaign}`}, of ${name}`;
