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

type SentNames = Record<InventoryLevel, string>;

const pick = (rows: readonly { name: string }[], name: string): string => rows[0]?.name ?? composed(name);

/**
 * The names under which the application has a creative, its ad set and campaign, whichever form of Unicode they are sent in; those that are new in
 * the composed form. Reads nothing for names that have only one form.
 */
export async function findStoredNames(
  db: Database,
  applicationId: string,
  names: SentNames,
): Promise<SentNames> {
  const forms = {
    campaign: nameForms(names.campaign),
    adset: nameForms(names.adset),
    creative: nameForms(names.creative),
  };
  if (Object.values(forms).every(({ length }) => length === 1)) return names;
  const isCampaign = and(eq(campaigns.applicationId, applicationId), isAmong(campaigns.name, forms.campaign));
  const isAdset = and(eq(adsets.campaignId, campaigns.id), isAmong(adsets.name, forms.adset));
  const isCreative = and(eq(creatives.adsetId, adsets.id), isAmong(creatives.name, forms.creative));
  const [ofCampaign, ofAdset, ofCreative] = await retryTransient(() =>
    db.batch([
      db.select({ name: campaigns.name }).from(campaigns).where(isCampaign).limit(1),
      db.select({ name: adsets.name }).from(campaigns).innerJoin(adsets, isAdset).where(isCampaign).limit(1),
      db
        .select({ name: creatives.name })
        .from(campaigns)
        .innerJoin(adsets, isAdset)
        .innerJoin(creatives, isCreative)
        .where(isCampaign)
        .limit(1),
    ]),
  );
  return {
    campaign: pick(ofCampaign, names.campaign),
    adset: pick(ofAdset, names.adset),
    creative: pick(ofCreative, names.creative),
  };
}
