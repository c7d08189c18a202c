import { and, eq, inArray, sql } from 'drizzle-orm';
import type { Segment } from '#catalogue';
import { clicks, creatives, type Database, database, impressions } from '#db';
import type { Attribution } from './match.ts';
import { isImpressionId } from './rules/rule.ts';

/** The click or impression that a device is credited with, as far as it is still stored. Times are epoch milliseconds. */
type CreditedClick = {
  clickedAt: number;
  /** Lower-case ISO 3166 code; null if the edge did not know it. */
  country: string | null;
  /** The link's stored query parameters. */
  params: Record<string, string>;
  /** The number of devices that have named this click so far. */
  namedInstalls: number;
};

/** The country that a device is counted in, and its source; null if unknown. */
type KnownCountry = { country: string | null; countrySource: 'data' | 'click' | 'timezone' | null };

/** The part of a stored device's description that is explained. */
type Described = {
  segment: Pick<Segment, 'country' | 'network'>;
  countrySource: KnownCountry['countrySource'];
};

/** Why a device was attributed as it was, with the names behind the ids. Times are epoch milliseconds. */
export type Explanation = {
  acquiredDay: string;
  acquiredAt: number;
  place: KnownCountry;
  /** The network that brought the device; null if unknown. */
  network: string | null;
  attribution: Partial<Attribution>;
  /** Null if no click was credited, or if the click is no longer in any window. */
  click: CreditedClick | null;
  /** The name of each creative that the attribution mentions, by id. */
  creatives: Record<string, string>;
};

/** What a counter stores about a device's acquisition. */
export type Acquisition = {
  acquiredDay: string;
  acquiredAt: number;
  attribution: string;
  description: Described;
};

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
): Promise<Explanation> {
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
  return {
    acquiredDay,
    acquiredAt,
    place: { country: description.segment.country || null, countrySource: description.countrySource ?? null },
    network: description.segment.network || null,
    attribution,
    click: click ? { ...click, params: click.params === null ? {} : JSON.parse(click.params) } : null,
    creatives: Object.fromEntries(named.map(({ id, name }) => [id, name])),
  };
}
