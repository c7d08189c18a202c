import { eq } from 'drizzle-orm';
import { applications, creatives, database, type LinkPreview } from '#db';
import { LookupCache, requireWithin } from '#http';
import { httpsUrl, type LinkDestinations } from './destination.ts';

/** What a tracking link leads to. */
export type Link = {
  creativeId: string;
  applicationId: string;
  applicationName: string;
  timezone: string;
  dataCollection: boolean;
  probabilisticWindowHours: number;
  viewWindowHours: number;
  /** The network that the link is for; null if its parameters tell. */
  network: string | null;
  stores: LinkDestinations;
  /** What is shown of the link before anyone follows it; null for what its destination shows. */
  preview: LinkPreview | null;
};

/** 16 random bytes as base64url. */
export const LINK_TOKEN = /^[A-Za-z0-9_-]{22}$/;

const links = new LookupCache<Link>();

async function readLink(db: D1Database | D1DatabaseSession, token: string): Promise<Link | null> {
  const [row] = await database(db)
    .select({
      creativeId: creatives.id,
      network: creatives.network,
      preview: creatives.preview,
      applicationId: applications.id,
      applicationName: applications.name,
      timezone: applications.timezone,
      dataCollection: applications.dataCollection,
      probabilisticWindowHours: applications.probabilisticWindowHours,
      viewWindowHours: applications.viewWindowHours,
      iosStoreUrl: applications.iosStoreUrl,
      androidStoreUrl: applications.androidStoreUrl,
      fallbackUrl: applications.fallbackUrl,
    })
    .from(creatives)
    .innerJoin(applications, eq(applications.id, creatives.applicationId))
    .where(eq(creatives.token, token));
  if (!row) return null;
  const { iosStoreUrl, androidStoreUrl, fallbackUrl, ...link } = row;
  const stores = {
    ios: httpsUrl(iosStoreUrl),
    android: httpsUrl(androidStoreUrl),
    fallback: httpsUrl(fallbackUrl),
  };
  return { ...link, stores };
}

/**
 * Finds a link, including links of archived creatives, in the isolate's cache (at most 60 s old) or else the nearest database replica.
 * Lookups of tokens that the isolate does not know count against `network`, separately from its clicks. Throws `rate_limited`.
 */
export async function findLink(
  env: Env,
  token: string,
  network: string,
  now: number,
  keepAlive: (work: Promise<unknown>) => void,
): Promise<Link | null> {
  if (!LINK_TOKEN.test(token)) return null;
  const load = async () => {
    if (!links.holds(token, now)) await requireWithin(env.CLICK_LIMIT, `lookup:${network}`);
    // A replica may lack a creative that was just created, so only the primary can confirm that there is none.
    return (await readLink(env.DB.withSession(), token)) ?? readLink(env.DB, token);
  };
  return links.get(token, now, load, keepAlive);
}
