import { and, eq, inArray, sql } from 'drizzle-orm';
import type { Segment } from '#catalogue';
import { clicks, creatives, type Database, database, impressions } from '#db';
import type { Fault } from '#lib/input/fields';
import type { ToldConsent } from '#networks';
import type { Attribution } from './match.ts';
import { isImpressionId } from './rules/rule.ts';

/** What a counter stores about a device's acquisition. */
type Acquisition = {
  acquiredDay: string;
  acquiredAt: number;
  attribution: string;
  description: {
    segment: Pick<Segment, 'country' | 'network'>;
    countrySource: 'data' | 'click' | 'timezone' | null;
    consent?: ToldConsent | undefined;
    warnings?: readonly Fault[] | undefined;
  };
};

/** Why a device was attributed as it was, with the names behind the ids. Times are epoch milliseconds. */
export type Explanation = Awaited<ReturnType<typeof explainDevice>>;

const selectTouch = (db: Database, applicationId: string, touchId: string) =>
  isImpressionId(touchId)
    ? db
        .select({
          clickedAt: impressions.shownAt,
          country: impressions.country,
          params: sql<string | null>`NULL`.as('params'),
          namedInstalls: sql<number>`0`.as('named_installs'),
        })
        .from(impressions)
        .where(and(eq(impressions.applicationId, applicationId), eq(impressions.id, touchId)))
    : db
        .select({
          clickedAt: clicks.clickedAt,
          country: clicks.country,
          params: clicks.params,
          namedInstalls: clicks.namedInstalls,
        })
        .from(clicks)
        .where(and(eq(clicks.applicationId, applicationId), eq(clicks.id, touchId)));

/** Explains the attribution of a device. The caller has checked that the application belongs to the team. */
export async function explainDevice(
  d1: D1Database,
  applicationId: string,
  { acquiredDay, acquiredAt, attribution: stored, description }: Acquisition,
) {
  const attribution: Partial<Attribution> = JSON.parse(stored);
  const ids = [
    attribution.creative_id,
    attribution.excluded?.creative_id,
    attribution.replaced?.creative_id,
    ...(attribution.candidates ?? []).map(({ creative_id }) => creative_id),
    ...(attribution.refused_clicks ?? []).map(({ creative_id }) => creative_id),
  ].filter((id) => typeof id === 'string');
  const db = database(d1);
  const [[click], named] = await db.batch([
    selectTouch(db, applicationId, attribution.click_id ?? ''),
    db
      .select({ id: creatives.id, name: creatives.name })
      .from(creatives)
      .where(and(inArray(creatives.id, ids), eq(creatives.applicationId, applicationId))),
  ]);
  const params: Record<string, string> = JSON.parse(click?.params ?? '{}');
  return {
    acquiredDay,
    acquiredAt,
    /** The country that it is counted in, and its source; null if unknown. */
    place: { country: description.segment.country || null, countrySource: description.countrySource ?? null },
    /** The network that brought the device; null if unknown. */
    network: description.segment.network || null,
    /** What its message told of the person's choices. */
    consent: description.consent ?? null,
    /** What of its message was dropped or replaced. */
    warnings: description.warnings ?? [],
    attribution,
    /** The credited click or impression. Null if there is none, or if it is no longer in any window. */
    click: click ? { ...click, params } : null,
    /** The name of each creative that the attribution mentions, by id. */
    creatives: Object.fromEntries(named.map(({ id, name }) => [id, name])),
  };
}
