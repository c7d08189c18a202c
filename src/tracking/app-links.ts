import { and, asc, isNotNull, ne, or, sql } from 'drizzle-orm';
import { applications, database } from '#db';
import { LookupCache } from '#http';
import { packageNameOf } from '#lib/store-urls';
import type { AndroidFile, AppleFile } from './answers.ts';

// Links that open an installed app: the files by which iOS (Universal Links) and Android (App Links) learn which apps may open links of this
// host. Each application has a path of its own, because a file names many apps, and an app must not open another's links.

/** An application with its apps' identities; null where a link cannot open the app. */
export type LinkedApp = {
  id: string;
  /** Such as `ABCDE12345.com.example.game`. */
  appleAppId: string | null;
  android: { packageName: string; fingerprints: string[] } | null;
};

/** Apple reads at most 128 KB of a file, and an application takes about 100 bytes. */
const MAX_APPS = 1_000;

type AppColumns = Pick<
  typeof applications.$inferSelect,
  'appleAppIdPrefix' | 'appleBundleId' | 'androidStoreUrl' | 'androidFingerprints'
>;

function identitiesOf(app: AppColumns): Omit<LinkedApp, 'id'> {
  const { appleAppIdPrefix: prefix, appleBundleId: bundle, androidFingerprints: fingerprints } = app;
  const packageName = packageNameOf(app.androidStoreUrl);
  return {
    appleAppId: prefix !== null && bundle !== null ? `${prefix}.${bundle}` : null,
    android: packageName !== null && fingerprints.length > 0 ? { packageName, fingerprints } : null,
  };
}

/** Whether links of an application can open its app on any system. */
export function opensApp(app: AppColumns): boolean {
  const { appleAppId, android } = identitiesOf(app);
  return appleAppId !== null || android !== null;
}

/** The end of a link that opens the app, after the base of tracking links. */
export const appLinkEnd = (applicationId: string, token: string): string => `${applicationId}/${token}`;

const apps = new LookupCache<LinkedApp[]>();

/** The applications of the deployment whose links can open an app, oldest first. At most 60 s old. */
export async function listLinkedApps(
  env: Env,
  now: number,
  keepAlive: (work: Promise<unknown>) => void,
): Promise<LinkedApp[]> {
  const load = async () => {
    const { id, appleAppIdPrefix, appleBundleId, androidStoreUrl, androidFingerprints } = applications;
    const rows = await database(env.DB.withSession())
      .select({ id, appleAppIdPrefix, appleBundleId, androidStoreUrl, androidFingerprints })
      .from(applications)
      .where(
        or(and(isNotNull(appleAppIdPrefix), isNotNull(appleBundleId)), ne(androidFingerprints, sql`'[]'`)),
      )
      .orderBy(asc(id))
      .limit(MAX_APPS);
    return rows.map((row) => ({ id: row.id, ...identitiesOf(row) }));
  };
  return (await apps.get('', now, load, keepAlive)) ?? [];
}

/** The file for iOS. `base` is the path that links begin with, without a slash at the end. */
export const appleFile = (linked: readonly LinkedApp[], base: string): AppleFile => ({
  applinks: {
    details: linked.flatMap(({ id, appleAppId }) =>
      appleAppId === null
        ? []
        : [{ appIDs: [appleAppId], components: [{ '/': `${base}/${appLinkEnd(id, '*')}` }] }],
    ),
  },
});

const OPENS_LINKS = 'delegate_permission/common.handle_all_urls';

/**
 * The file for Android. From Android 15 on, an app opens only the path of its application; earlier ones go by the app's manifest alone. Source:
 * https://developer.android.com/training/app-links/configure-assetlinks
 */
export const androidFile = (linked: readonly LinkedApp[], base: string): AndroidFile =>
  linked.flatMap(({ id, android }) =>
    android === null
      ? []
      : [
          {
            relation: [OPENS_LINKS],
            target: {
              namespace: 'android_app',
              package_name: android.packageName,
              sha256_cert_fingerprints: android.fingerprints,
            },
            relation_extensions: {
              [OPENS_LINKS]: {
                dynamic_app_link_components: [
                  { '/': `${base}/${appLinkEnd(id, '*')}` },
                  { '/': '*', exclude: true },
                ],
              },
            },
          },
        ],
  );
