import { and, asc, eq } from 'drizzle-orm';
import { adsets, campaigns, creatives, database } from '#db';
import { askRegistry, mintIds } from './create-creative.ts';

type Names = { campaign: string; adset: string; creative: string };

/** The first creative of this name, in the campaign and ad set of these names; null if there is none. */
async function findNamed(d1: D1Database, applicationId: string, names: Names): Promise<string | null> {
  const [row] = await database(d1)
    .select({ id: creatives.id })
    .from(campaigns)
    .innerJoin(adsets, and(eq(adsets.campaignId, campaigns.id), eq(adsets.name, names.adset)))
    .innerJoin(creatives, and(eq(creatives.adsetId, adsets.id), eq(creatives.name, names.creative)))
    .where(and(eq(campaigns.applicationId, applicationId), eq(campaigns.name, names.campaign)))
    .orderBy(asc(creatives.id))
    .limit(1);
  return row?.id ?? null;
}

/**
 * The id of the creative with these names, which is created if there is none. Calls with the same `key` create one, also at the same time. Throws
 * `unavailable` if the database fails.
 */
export async function getOrCreateNamed(
  env: Env,
  { id: applicationId, teamId }: { id: string; teamId: string },
  { names, key, actor, now }: { names: Names; key: string; actor: string; now: number },
): Promise<string> {
  const known = await findNamed(env.DB, applicationId, names);
  if (known) return known;
  await askRegistry(env, {
    ...{ applicationId, teamId, actor, names, now, minted: mintIds() },
    idempotency: { key, requestHash: key, answer: '{}' },
  });
  const made = await findNamed(env.DB, applicationId, names);
  if (made === null) throw new Error('The creative was not created');
  return made;
}
