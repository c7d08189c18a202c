import { and, between, eq, type SQL, sql } from 'drizzle-orm';
import type { BatchItem } from 'drizzle-orm/batch';
import { COST_DIMENSIONS, normalised } from '#catalogue';
import { type ConnectorAmounts, costs, type Database } from '#db';
import { chunksOf } from '#lib/collections/chunks';
import { toOneLine } from '#lib/input/one-line';
import { daysBetween } from '#lib/time';
import type { CostRow } from '#networks/costs';
import { toStoredForms } from './cost-key.ts';
import { applyNames, type CostValues, listCostNames } from './cost-names.ts';
import { readNamesByIds } from './match-ids.ts';
import { insertCosts, replacedByFetched, toParameter } from './store-costs.ts';

const MAX_NAME = 255;
/** A parameter takes 2 MB. */
const ROWS_PER_STATEMENT = 1_000;

/** An item of a network by its name, and without one by its id. Names are stored as uploads have them. */
const nameOf = (item: { id: string; name: string } | null): string =>
  item === null ? '' : toOneLine(item.name).trim().slice(0, MAX_NAME).toWellFormed() || item.id;

/** The rows under the names that the application has for the networks' ids, and else under those of the networks. */
async function toValues(
  db: Database,
  applicationId: string,
  rows: readonly CostRow[],
): Promise<CostValues[]> {
  const ids = rows.flatMap(({ campaign, adset, ad }) =>
    [campaign.id, adset?.id ?? '', ad?.id ?? ''].filter((id) => id !== ''),
  );
  const namesOf = await readNamesByIds(db, applicationId, [...new Set(ids)]);
  return rows.map((row) => {
    const { network, campaign, adset, ad, nanos, currency, impressions, clicks } = row;
    const byAd = ad && namesOf(network, 'creative', ad.id);
    const byAdset = adset && namesOf(network, 'adset', adset.id);
    const byCampaign = namesOf(network, 'campaign', campaign.id);
    const names = byAd ?? {
      campaign: (byAdset ?? byCampaign)?.campaign ?? nameOf(campaign),
      adset: byAdset?.adset ?? nameOf(adset),
      creative: nameOf(ad),
    };
    const dimensions = COST_DIMENSIONS.map((name) => row[name] && normalised(name, row[name]));
    const key = [row.date, names.campaign, names.adset, names.creative, ...dimensions];
    return { key, currency, nanos, impressions, clicks };
  });
}

/** Amounts in billionths by day and currency. */
type AmountSums = Map<string, bigint>;

/** Added up in JavaScript: sums of integers may exceed 64 bits, and a day has few rows. */
async function readSums(db: Database, stored: SQL | undefined): Promise<AmountSums> {
  const { day, currency, amount } = costs;
  const rows = await db
    .select({
      day,
      currency,
      units: sql<number>`sum(${amount} / 1000000000)`,
      nanos: sql<number>`sum(${amount} % 1000000000)`,
    })
    .from(costs)
    .where(stored)
    .groupBy(day, currency);
  return new Map(
    rows.map((row) => [`${row.day} ${row.currency}`, BigInt(row.units) * 1_000_000_000n + BigInt(row.nanos)]),
  );
}

function sumsOf(values: readonly CostValues[]): AmountSums {
  const sums: AmountSums = new Map();
  for (const { key, currency, nanos } of values) {
    const place = `${key[0]} ${currency}`;
    sums.set(place, (sums.get(place) ?? 0n) + nanos);
  }
  return sums;
}

function byCurrency(sums: AmountSums): ConnectorAmounts {
  const totals = new Map<string, bigint>();
  for (const [place, nanos] of sums) {
    const currency = place.slice(place.indexOf(' ') + 1);
    totals.set(currency, (totals.get(currency) ?? 0n) + nanos);
  }
  return [...totals].sort().map(([currency, nanos]) => ({ currency, nanos: `${nanos}` }));
}

/**
 * The statements that replace what a connector has fetched of some days, to be run in one transaction, and what they change. They also delete
 * uploaded rows of the same money. Rows are matched by the ids of networks first, then by name; rows of one name are added up, and unmatched ones
 * are stored and count as spend all the same. `when`: whether rows are stored at all. Throws `invalid_request` if rows cannot be added up.
 */
export async function replaceFetchedCosts(
  db: Database,
  { applicationId, connectorId }: { applicationId: string; connectorId: string },
  { from, to, rows }: { from: string; to: string; rows: readonly CostRow[] },
  { now, when }: { now: number; when: SQL },
) {
  const own = and(
    eq(costs.applicationId, applicationId),
    eq(costs.connectorId, connectorId),
    between(costs.day, from, to),
  );
  const [fetched, names, before] = await Promise.all([
    toValues(db, applicationId, rows),
    listCostNames(db, applicationId),
    readSums(db, own),
  ]);
  const values = applyNames(await toStoredForms(db, applicationId, fetched), names);
  const after = sumsOf(values);
  const changed = [...new Set([...before.keys(), ...after.keys()])].filter(
    (place) => (before.get(place) ?? 0n) !== (after.get(place) ?? 0n),
  );
  const parts = Array.from(chunksOf(values, ROWS_PER_STATEMENT), toParameter);
  return {
    statements: (): BatchItem<'sqlite'>[] => [
      db.delete(costs).where(own),
      ...parts.flatMap((part) => [
        db.delete(costs).where(and(replacedByFetched(applicationId, part), when)),
        insertCosts(db, { applicationId, connectorId }, part, { now, when }),
      ]),
    ],
    change: {
      ...{ from, to, days: daysBetween(from, to) + 1 },
      changedDays: new Set(changed.map((place) => place.split(' ', 1)[0])).size,
      rows: values.length,
      before: byCurrency(before),
      after: byCurrency(after),
    },
  };
}

/** The statement that deletes what a connector has fetched. */
export const deleteFetchedCosts = (db: Database, applicationId: string, connectorId: string) =>
  db.delete(costs).where(and(eq(costs.applicationId, applicationId), eq(costs.connectorId, connectorId)));
