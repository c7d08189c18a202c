import { type SQL, sql } from 'drizzle-orm';
import * as z from 'zod';
import { type Database, externalIds, type InventoryLevel } from '#db';
import { placeholderId } from '#lib/input/placeholder';

// The ad that led to an install, as its network names it, and what here has its ids.

/** An id of a network's ad, campaign and so on, as its JSON has it. As text, because it may exceed 2^53. */
export const adId = z.union([z.int().min(0), z.string().regex(/^\d{1,32}$/)]).transform(String);

/** The ids of one level. One that says nothing, such as 0, is none: everything with it would be one campaign. */
export const idsOfLevel = (...ids: readonly (string | null | undefined)[]): string[] =>
  ids.filter((id) => typeof id === 'string').filter((id) => placeholderId(id) === null);

/** A level that the network does not tell has no ids, and the name is empty if the network tells none. */
export type NetworkAd = { network: 'meta' | 'apple_ads' } & Record<
  InventoryLevel,
  { ids: readonly string[]; name: string }
>;

/** The campaign, ad set and creative of an application that have ids of an ad. */
export type AdItems = Readonly<Partial<Record<InventoryLevel, string>>>;

const idsOf = ({ network, campaign, adset, creative }: NetworkAd) =>
  Object.entries({ campaign, adset, creative }).flatMap(([kind, { ids }]) =>
    ids.map((id) => [network, kind, id] as const),
  );

type ItemRow = { network: string; kind: string; external_id: string; item_id: string };

const { applicationId, network, kind, externalId, itemId } = externalIds;

/** The rows of what has ids of some ads: ranges of the primary key. */
export const readAdItems = (application: string, ads: readonly NetworkAd[]): SQL => sql`
  SELECT ${network} AS network, ${kind} AS kind, ${externalId} AS external_id, ${itemId} AS item_id
  FROM ${externalIds}
  WHERE ${applicationId} = ${application} AND (${network}, ${kind}, ${externalId}) IN (
    SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(${JSON.stringify(ads.flatMap(idsOf))}))`;

/** What has the ids of an ad, among the rows that were read for several. The first id of a level that something has decides. */
export function itemsOf(rows: readonly ItemRow[], ad: NetworkAd): AdItems {
  const keyOf = (parts: readonly string[]) => parts.join(' ');
  const found = new Map(rows.map((row) => [keyOf([row.network, row.kind, row.external_id]), row.item_id]));
  const own = idsOf(ad).flatMap((id) => {
    const item = found.get(keyOf(id));
    return item === undefined ? [] : [[id[1], item] as const];
  });
  return Object.fromEntries(own.toReversed());
}

export const findAdItems = async (db: Database, application: string, ad: NetworkAd): Promise<AdItems> =>
  itemsOf(await db.all<ItemRow>(readAdItems(application, [ad])), ad);
