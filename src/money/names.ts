import { and, eq, exists, or, type SQL, type SQLWrapper } from 'drizzle-orm';
import { adsets, campaigns, creatives, type Database } from '#db';

/** What a row of costs was spent on. */
export type Names = { campaign: string; adset: string | null; creative: string | null };

/**
 * Whether names, in which an absent one is empty text, are of a campaign of the application and, where they go on, of an ad set and
 * a creative within.
 */
export function areKnown(
  db: Database,
  applicationId: string,
  names: { campaign: SQLWrapper; adset: SQLWrapper; creative: SQLWrapper },
): SQL {
  const creative = db
    .select({ id: creatives.id })
    .from(creatives)
    .where(
      and(
        eq(creatives.applicationId, applicationId),
        eq(creatives.adsetId, adsets.id),
        eq(creatives.name, names.creative),
      ),
    );
  const adset = db
    .select({ id: adsets.id })
    .from(adsets)
    .where(
      and(
        eq(adsets.campaignId, campaigns.id),
        or(eq(names.adset, ''), eq(adsets.name, names.adset)),
        or(eq(names.creative, ''), exists(creative)),
      ),
    );
  const campaign = db
    .select({ id: campaigns.id })
    .from(campaigns)
    .where(
      and(
        eq(campaigns.applicationId, applicationId),
        eq(campaigns.name, names.campaign),
        or(and(eq(names.adset, ''), eq(names.creative, '')), exists(adset)),
      ),
    );
  return exists(campaign);
}
