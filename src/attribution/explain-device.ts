import { and, eq, inArray } from 'drizzle-orm';
import { clicks, creatives, database } from '#db';
import type { Attribution } from './match.ts';

/** The click that a device is credited to, as far as it is still stored. Times are epoch milliseconds. */
export type CreditedClick = {
  clickedAt: number;
  /** ISO 3166 code in lower case; null where the edge did not know. */
  country: string | null;
  /** The query parameters of the link that are kept. */
  params: Record<string, string>;
  /** How many devices have named this click by now. */
  namedInstalls: number;
};

/** The country that a device is counted in, and what told it; null where it is not known. */
export type Place = { country: string | null; countrySource: 'data' | 'click' | 'timezone' | null };

/** Why a device was credited to what brought it, with the names of what is named. Times are epoch milliseconds. */
export type Explanation = {
  acquiredDay: string;
  acquiredAt: number;
  place: Place;
  attribution: Partial<Attribution>;
  /** Null where no click was credited, or no window reaches it any more. */
  click: CreditedClick | null;
  /** Name of each creative that the attribution speaks of, by id. */
  creatives: Record<string, string>;
};

/** What its counter keeps of a device's acquisition. */
export type Acquisition = {
  acquiredDay: string;
  acquiredAt: number;
  attribution: string;
  description: Place;
};

/** Explains the attribution of a device. The caller has checked that the application is its own. */
export async function explainDevice(
  d1: D1Database,
  applicationId: string,
  { acquiredDay, acquiredAt, attribution: stored, description }: Acquisition,
): Promise<Explanation> {
  const attribution: Partial<Attribution> = JSON.parse(stored);
  const ids = [
    attribution.creative_id,
    ...(attribution.candidates ?? []).map(({ creative_id }) => creative_id),
  ].filter((id) => typeof id === 'string');
  const db = database(d1);
  const [[click], named] = await db.batch([
    db
      .select({
        clickedAt: clicks.clickedAt,
        country: clicks.country,
        params: clicks.params,
        namedInstalls: clicks.namedInstalls,
      })
      .from(clicks)
      .where(and(eq(clicks.applicationId, applicationId), eq(clicks.id, attribution.click_id ?? ''))),
    db
      .select({ id: creatives.id, name: creatives.name })
      .from(creatives)
      .where(and(inArray(creatives.id, ids), eq(creatives.applicationId, applicationId))),
  ]);
  return {
    acquiredDay,
    acquiredAt,
    place: { country: description.country, countrySource: description.countrySource ?? null },
    attribution,
    click: click ? { ...click, params: click.params === null ? {} : JSON.parse(click.params) } : null,
    creatives: Object.fromEntries(named.map(({ id, name }) => [id, name])),
  };
}
