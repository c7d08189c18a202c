import { and, eq, exists, or, type SQL, type SQLWrapper } from 'drizzle-orm';
import { adsets, campaigns, creatives, type Database } from '#db';

/** The names of a campaign, ad set and creative that money was spent on. */
export type CostNames = {
  campaign: string;
  adset: string | null | undefined;
  creative: string | null | undefined;
};

/**
 * SQL for whether names match a campaign of the application and, if given, an ad set and a creative within it. An absent name is empty text.
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
