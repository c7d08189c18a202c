import { and, eq, or } from 'drizzle-orm';
import { creatives, database } from '#db';
import { LookupCache } from '#http';
import { logWarning } from '#lib/log';

/** By the token of a link, or by a creative's id. Cached, because `/fetch-token` asks for every device that has a creative. */
const known = new LookupCache<{ deepLink: string | null }>();

async function readDeepLink(env: Env, applicationId: string, tokenOrId: string) {
  const { id, token, deepLink } = creatives;
  const [row] = await database(env.DB.withSession())
    .select({ deepLink })
    .from(creatives)
    .where(and(eq(creatives.applicationId, applicationId), or(eq(token, tokenOrId), eq(id, tokenOrId))));
  return row ?? null;
}

/**
 * What the app opens: the deep link of the first of these creatives that is known, by the token of its link or its id. Null if there is
 * none, and if it cannot be read: a device gets its token either way. At most 60 s out of date.
 */
export async function deepLinkOf(
  env: Env,
  applicationId: string,
  tokensOrIds: readonly (string | null | undefined)[],
  keepAlive: (work: Promise<unknown>) => void,
): Promise<string | null> {
  try {
    for (const one of tokensOrIds) {
      if (!one) continue;
      const load = () => readDeepLink(env, applicationId, one);
      const found = await known.get(`${applicationId} ${one}`, Date.now(), load, keepAlive);
      if (found) return found.deepLink;
    }
  } catch (error) {
    logWarning('deep link not read', error, { application_id: applicationId });
  }
  return null;
}
