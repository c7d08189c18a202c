import { and, eq } from 'drizzle-orm';
import {
  adsets,
  campaigns,
  creatives,
  type Database,
  type InventoryLevel,
  isAmong,
  retryTransient,
} from '#db';
import { composed, nameForms } from '#lib/input/name-forms';

/** The names of a campaign, an ad set in it and a creative in that. */
export type NamePath = readonly [campaign: string, adset: string, creative: string];

/** A parameter takes 2 MB. */
const CHARACTERS_AT_ONCE = 300_000;

const keyOf = (names: readonly string[]) => names.map(composed).join('\0');

function* chunksOf(paths: readonly NamePath[]): Generator<NamePath[]> {
  let [chunk, characters]: [NamePath[], number] = [[], 0];
  for (const path of paths) {
    chunk.push(path);
    characters += path.join('').length;
    if (characters < CHARACTERS_AT_ONCE) continue;
    yield chunk;
    [chunk, characters] = [[], 0];
  }
  if (chunk.length > 0) yield chunk;
}

/**
 * Looks up under which names the application has those of some paths, whichever form of Unicode they are in. The function that it returns gives the
 * names of a path: those that are new in the composed form. Reads nothing for paths whose names have only one form.
 */
export async function findStoredNames(
  db: Database,
  applicationId: string,
  paths: readonly NamePath[],
): Promise<(path: NamePath) => [string, string, string]> {
  const several = new Map(
    paths
      .filter((path) => path.some((name) => nameForms(name).length > 1))
      .map((path) => [keyOf(path), path] as const),
  );
  const stored = new Map<string, string>();
  for (const chunk of chunksOf([...several.values()])) {
    const [ofCampaign = [], ofAdset = [], ofCreative = []] = [0, 1, 2].map((level) => [
      ...new Set(chunk.flatMap((path) => nameForms(path[level] ?? ''))),
    ]);
    const found = await retryTransient(() =>
      db
        .select({ campaign: campaigns.name, adset: adsets.name, creative: creatives.name })
        .from(campaigns)
        .leftJoin(adsets, and(eq(adsets.campaignId, campaigns.id), isAmong(adsets.name, ofAdset)))
        .leftJoin(creatives, and(eq(creatives.adsetId, adsets.id), isAmong(creatives.name, ofCreative)))
        .where(and(eq(campaigns.applicationId, applicationId), isAmong(campaigns.name, ofCampaign))),
    );
    for (const { campaign, adset, creative } of found) {
      const names = [campaign, adset, creative];
      for (const [level, name] of names.entries()) {
        if (name !== null) stored.set(keyOf(names.slice(0, level + 1).map((one) => one ?? '')), name);
      }
    }
  }
  return (path) => {
    const nameAt = (level: 0 | 1 | 2) => stored.get(keyOf(path.slice(0, level + 1))) ?? composed(path[level]);
    return [nameAt(0), nameAt(1), nameAt(2)];
  };
}

/** The same for one creative, its ad set and campaign. */
export async function storedNamesOf(
  db: Database,
  applicationId: string,
  names: Record<InventoryLevel, string>,
): Promise<Record<InventoryLevel, string>> {
  const path: NamePath = [names.campaign, names.adset, names.creative];
  const [campaign, adset, creative] = (await findStoredNames(db, applicationId, [path]))(path);
  return { campaign, adset, creative };
}
