import { and, asc, type Column, eq, getTableColumns, sql } from 'drizzle-orm';
import { alias } from 'drizzle-orm/sqlite-core';
import * as z from 'zod';
import { auditStatement, type Caller } from '#audit';
import { COST_DIMENSIONS } from '#catalogue';
import { adsets, campaigns, columnList, costNames, costs, creatives, type Database } from '#db';
import { AppError, invalidRequest, optionalText, requiredText } from '#http';
import { isolate } from '#lib/input/isolate';
import { composed } from '#lib/input/name-forms';
import { toNanos } from '#lib/money';
import type { ApplicationRow } from '#teams';
import { ROW_COLUMNS } from './cost-key.ts';
import { areKnown, type CostNames } from './names.ts';

const MAX_UNMATCHED = 50;

/** The names of a row, where an absent one is empty text. */
type StoredNames = { campaign: string; adset: string; creative: string };
const LEVELS = ['campaign', 'adset', 'creative'] as const;
const stored = ({ campaign, adset, creative }: CostNames): StoredNames => ({
  ...{ campaign, adset: adset ?? '', creative: creative ?? '' },
});

/** The condition that a row of a table has these names. */
const hasNames = (table: Record<keyof StoredNames, Column>, names: StoredNames) =>
  and(...LEVELS.map((level) => eq(table[level], names[level])));

/** The columns of costs between the names and the time, in the order of the table, which moving to other names keeps. */
const UNCHANGED = Object.values(getTableColumns(costs)).filter(
  ({ name }) => !['application_id', 'day', 'campaign', 'adset', 'creative', 'updated_at'].includes(name),
);

/** A row of costs as stored. The key is in the order of `KEY_COLUMNS`. */
export type CostValues = {
  key: readonly string[];
  currency: string;
  nanos: bigint;
  impressions: number | null;
  clicks: number | null;
};

/** The largest cost, in units of its currency. Its nanos fit into 64 bits. */
export const MAX_COST = 9_000_000_000;
const MAX_NANOS = toNanos(MAX_COST);
const TOO_MUCH = `add up to more than ${MAX_COST}`;

const add = (left: number | null, right: number | null) =>
  left === null && right === null ? null : (left ?? 0) + (right ?? 0);

/**
 * Replaces mapped names in rows. The amounts of rows with the same key are added, because they are costs of different things. Throws `invalid_request` if amounts in two
 * currencies would have to be added, or if a sum is above `MAX_COST`. Pure.
 */
export function applyNames(
  rows: readonly CostValues[],
  names: readonly (typeof costNames.$inferSelect)[],
): CostValues[] {
  const bySource = new Map(
    names.map((name) => [composed([name.campaign, name.adset, name.creative].join('\0')), name]),
  );
  const result = new Map<string, CostValues>();
  for (const row of rows) {
    const { currency, nanos } = row;
    const [day = '', campaign, adset, creative, ...dimensions] = row.key;
    const names = [campaign, adset, creative];
    const to = bySource.get(composed(names.join('\0')));
    const key = [day, ...(to ? [to.toCampaign, to.toAdset, to.toCreative] : names), ...dimensions].map(
      (text = '') => text,
    );
    const earlier = result.get(key.join('\0'));
    const sum = nanos + (earlier?.nanos ?? 0n);
    const fault =
      earlier && earlier.currency !== currency
        ? 'are in two currencies: upload them under different names or networks'
        : sum > MAX_NANOS && TOO_MUCH;
    if (fault) {
      const name = key.slice(1, 4).filter(Boolean).join(' › ');
      throw invalidRequest([{ path: `${day}:`, message: `rows of ${name} ${fault}` }]);
    }
    result.set(key.join('\0'), {
      ...{ key, currency, nanos: sum },
      impressions: add(row.impressions, earlier?.impressions ?? null),
      clicks: add(row.clicks, earlier?.clicks ?? null),
    });
  }
  return [...result.values()];
}

export const listCostNames = (db: Database, applicationId: string) =>
  db
    .select()
    .from(costNames)
    .where(eq(costNames.applicationId, applicationId))
    .orderBy(asc(costNames.campaign), asc(costNames.adset), asc(costNames.creative));

/** The first 50 names in stored costs that the application does not have, with the number of rows of each. */
export function listUnmatchedNames(db: Database, applicationId: string) {
  const { campaign, adset, creative } = costs;
  return db
    .select({ campaign, adset, creative, rows: sql<number>`count(*)` })
    .from(costs)
    .where(
      and(
        eq(costs.applicationId, applicationId),
        sql`NOT ${areKnown(db, applicationId, { campaign, adset, creative })}`,
      ),
    )
    .groupBy(campaign, adset, creative)
    .orderBy(campaign, adset, creative)
    .limit(MAX_UNMATCHED);
}

/** Names as a path: `campaign › ad set › creative`. */
export const namesText = ({ campaign, adset, creative }: CostNames): string =>
  [campaign, adset, creative].flatMap((name) => (name ? [isolate(name)] : [])).join(' › ');

export const NewCostName = z.object({
  campaign: requiredText(255),
  adset: optionalText(255),
  creative: optionalText(255),
  /** The id of one of the application's campaigns, ad sets or creatives. */
  to: requiredText(128),
});

/** The full names of a campaign, ad set or creative by id; null if the application has none with that id. */
async function findTarget(db: Database, applicationId: string, id: string): Promise<CostNames | null> {
  const [creative] = await db
    .select({ campaign: campaigns.name, adset: adsets.name, creative: creatives.name })
    .from(creatives)
    .innerJoin(adsets, eq(adsets.id, creatives.adsetId))
    .innerJoin(campaigns, eq(campaigns.id, adsets.campaignId))
    .where(and(eq(creatives.id, id), eq(creatives.applicationId, applicationId)));
  if (creative) return creative;
  const [adset] = await db
    .select({ campaign: campaigns.name, adset: adsets.name })
    .from(adsets)
    .innerJoin(campaigns, eq(campaigns.id, adsets.campaignId))
    .where(and(eq(adsets.id, id), eq(adsets.applicationId, applicationId)));
  if (adset) return { ...adset, creative: null };
  const [campaign] = await db
    .select({ campaign: campaigns.name })
    .from(campaigns)
    .where(and(eq(campaigns.id, id), eq(campaigns.applicationId, applicationId)));
  return campaign ? { ...campaign, adset: null, creative: null } : null;
}

/**
 * Maps a network's names to one of the application's campaigns, ad sets or creatives: stored rows move there, and later uploads follow. If a
 * day already has costs there in the same currency, they are added up. Throws `not_found` if the application does not have the id, and
 * `conflict` if a day has costs there in another currency, or if they would add up to more than `MAX_COST`.
 */
export async function mapCostNames(
  caller: Caller,
  application: ApplicationRow,
  { to, ...names }: z.infer<typeof NewCostName>,
): Promise<void> {
  const { db, now } = caller;
  const target = await findTarget(db, application.id, to);
  if (!target) throw new AppError('not_found', 'Campaign, ad set or creative not found');
  const [from, into] = [stored(names), stored(target)];
  if (LEVELS.every((level) => from[level] === into[level])) return;
  const ofSource = and(eq(costs.applicationId, application.id), hasNames(costs, from));
  const there = alias(costs, 'there');
  const [clash] = await db
    .select({
      day: costs.day,
      isForeign: sql<number>`${there.currency} <> ${costs.currency}`.as('is_foreign'),
    })
    .from(costs)
    .innerJoin(
      there,
      and(
        eq(there.applicationId, application.id),
        eq(there.day, costs.day),
        hasNames(there, into),
        ...COST_DIMENSIONS.map((name) => eq(there[name], costs[name])),
        eq(there.connectorId, costs.connectorId),
      ),
    )
    .where(
      and(
        ofSource,
        sql`(${there.currency} <> ${costs.currency} OR ${there.amount} + ${costs.amount} > ${Number(MAX_NANOS)})`,
      ),
    )
    .limit(1);
  if (clash) {
    const already = `${namesText(target)} already has costs`;
    throw new AppError(
      'conflict',
      clash.isForeign
        ? `${already} in another currency on ${clash.day}`
        : `${already} on ${clash.day}, with which these would ${TOO_MUCH}`,
    );
  }
  const mapping = {
    toCampaign: into.campaign,
    toAdset: into.adset,
    toCreative: into.creative,
    createdAt: now,
  };
  await db.batch([
    db
      .insert(costNames)
      .values({ applicationId: application.id, ...from, ...mapping })
      .onConflictDoUpdate({
        target: [costNames.applicationId, costNames.campaign, costNames.adset, costNames.creative],
        set: mapping,
      }),
    db
      .insert(costs)
      .select(
        sql`SELECT application_id, day, ${into.campaign}, ${into.adset}, ${into.creative}, ${columnList(UNCHANGED)}, ${now}
          FROM ${costs} WHERE ${ofSource}`,
      )
      .onConflictDoUpdate({
        target: [costs.applicationId, ...ROW_COLUMNS],
        set: {
          amount: sql`costs.amount + excluded.amount`,
          impressions: sql`coalesce(costs.impressions + excluded.impressions, costs.impressions, excluded.impressions)`,
          clicks: sql`coalesce(costs.clicks + excluded.clicks, costs.clicks, excluded.clicks)`,
          updatedAt: sql`excluded.updated_at`,
        },
      }),
    db.delete(costs).where(ofSource),
    auditStatement(
      caller,
      'cost_names.mapped',
      `${namesText(from)} to ${namesText(target)}, in ${application.name}`,
    ),
  ]);
}

/** Later uploads keep their own names again; stored rows stay where they are. Idempotent. */
export async function unmapCostNames(
  caller: Caller,
  application: ApplicationRow,
  names: StoredNames,
): Promise<void> {
  const { db } = caller;
  await db.batch([
    auditStatement(caller, 'cost_names.unmapped', `${namesText(names)}, in ${application.name}`),
    db.delete(costNames).where(and(eq(costNames.applicationId, application.id), hasNames(costNames, names))),
  ]);
}
