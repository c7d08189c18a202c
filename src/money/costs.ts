import { not, sql } from 'drizzle-orm';
import * as z from 'zod';
import { auditStatement, type Caller } from '#audit';
import { costs } from '#db';
import {
  currencyCode,
  invalidRequest,
  listOfUpTo,
  optionalCount,
  optionalName,
  requiredName,
  requiredNumber,
  requiredText,
} from '#http';
import { toNanos } from '#lib/money';
import { addDays, dayIn } from '#lib/time';
import type { ApplicationRow } from '#teams';
import type { CostsSaved } from './answers.ts';
import { CostKey, keyOf } from './cost-key.ts';
import { applyNames, type CostValues, listCostNames, MAX_COST } from './cost-names.ts';
import { areKnown } from './names.ts';
import { insertCosts, replacedByUpload, toParameter } from './store-costs.ts';

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
  currency: currencyCode(),
  amount: requiredNumber(MAX_COST),
  impressions: optionalCount(MAX_COUNT),
  clicks: optionalCount(MAX_COUNT),
});

/** Body of `PUT /v1/costs`. */
export const Costs = z.object({ application_id: requiredText(128), rows: costRows(CostEntry) });
export type Costs = z.infer<typeof Costs>;

/**
 * Stores ad spend. A row overwrites the one with the same key; of two such rows in one upload, the later one wins. It also replaces stored rows
 * that may be of the same money, whether uploaded or fetched by a connector, unless the upload has them too, so that a day uploaded first as a total
 * and then by country is not counted twice; `corrects` leaves these. Mapped names are replaced: see `applyNames`. Rows whose names the application does not have are stored and count as spend all the same. Throws
 * `invalid_request` for a date later than tomorrow in the application's time zone, which leaves room for platforms in other zones. Idempotent.
 */
export async function saveCosts(
  caller: Caller,
  application: ApplicationRow,
  rows: Costs['rows'],
  { corrects = false } = {},
): Promise<CostsSaved> {
  const { db, now } = caller;
  const tomorrow = addDays(dayIn(application.timezone, now), 1);
  const faults = rows.flatMap(({ date }, index) =>
    date > tomorrow
      ? [{ path: `rows.${index}.date`, message: `must not be later than tomorrow, ${tomorrow}` }]
      : [],
  );
  if (faults.length > 0) throw invalidRequest(faults);
  const byKey = new Map<string, CostValues>(
    rows.map((row) => {
      const { currency, amount, impressions = null, clicks = null } = row;
      const values = { key: keyOf(row), currency, nanos: toNanos(amount), impressions, clicks };
      return [values.key.join('\0'), values];
    }),
  );
  const mapped = applyNames([...byKey.values()], await listCostNames(db, application.id));
  const parameter = toParameter(mapped);
  const wanted = {
    campaign: sql<string>`wanted.value ->> 1`,
    adset: sql<string>`wanted.value ->> 2`,
    creative: sql<string>`wanted.value ->> 3`,
  };
  const [{ meta }, , unmatched] = await db.batch([
    db.delete(costs).where(replacedByUpload(application.id, parameter, corrects)),
    insertCosts(db, { applicationId: application.id, connectorId: '' }, parameter, { now }),
    db
      .select({
        campaign: wanted.campaign.as('campaign'),
        adset: sql<string | null>`nullif(${wanted.adset}, '')`.as('adset'),
        creative: sql<string | null>`nullif(${wanted.creative}, '')`.as('creative'),
        rows: sql<number>`count(*)`.as('rows'),
      })
      .from(sql`json_each(${parameter}) AS wanted`)
      .where(not(areKnown(db, application.id, wanted)))
      .groupBy(sql`1, 2, 3`)
      .orderBy(sql`1, 2, 3`),
    auditStatement(caller, 'costs.uploaded', `${byKey.size} rows of ${application.name}`),
  ]);
  const count = unmatched.reduce((total, row) => total + row.rows, 0);
  return {
    rows: byKey.size,
    replaced: meta.changes,
    matched: byKey.size - count,
    unmatched: count,
    unmatched_names: unmatched
      .slice(0, NAMES_SHOWN)
      .map(({ campaign, adset, creative }) => ({ campaign, adset, creative })),
  };
}
