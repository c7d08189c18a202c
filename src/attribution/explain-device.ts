import { and, eq, inArray, sql } from 'drizzle-orm';
import { clicks, creatives, database, devices } from '#db';
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

/** Why a device was credited to what brought it, with the names of what is named. Times are epoch milliseconds. */
export type Explanation = {
  acquiredDay: string;
  acquiredAt: number;
  attribution: Partial<Attribution>;
  /** Null where no click was credited, or no window reaches it any more. */
  click: CreditedClick | null;
  /** Name of each creative that the attribution speaks of, by id. */
  creatives: Record<string, string>;
};

/** Null for an erased device and for one of another application. The caller has checked that the application is its own. */
export async function explainDevice(
  db: D1Database,
  applicationId: string,
  device: { id: string; acquiredDay: string },
): Promise<Explanation | null> {
  const [row] = await database(db)
    .select({
      acquiredAt: devices.acquiredAt,
      attribution: devices.attribution,
      clickedAt: clicks.clickedAt,
      country: clicks.country,
      params: clicks.params,
      namedInstalls: clicks.namedInstalls,
    })
    .from(devices)
    .leftJoin(
      clicks,
      and(
        eq(clicks.applicationId, devices.applicationId),
        eq(clicks.id, sql`${devices.attribution} ->> 'click_id'`),
      ),
    )
    .where(
      and(
        eq(devices.applicationId, applicationId),
        eq(devices.acquiredDay, device.acquiredDay),
        eq(devices.id, device.id),
      ),
    );
  if (!row) return null;
  const attribution: Partial<Attribution> = JSON.parse(row.attribution);
  const ids = [
    attribution.creative_id,
    ...(attribution.candidates ?? []).map(({ creative_id }) => creative_id),
  ].filter((id) => typeof id === 'string');
  const named =
    ids.length === 0
      ? []
      : await database(db)
          .select({ id: creatives.id, name: creatives.name })
          .from(creatives)
          .where(and(inArray(creatives.id, ids), eq(creatives.applicationId, applicationId)));
  return {
    acquiredDay: device.acquiredDay,
    acquiredAt: row.acquiredAt,
    attribution,
    click:
      row.clickedAt === null || row.namedInstalls === null
        ? null
        : {
            clickedAt: row.clickedAt,
            country: row.country,
            params: row.params === null ? {} : JSON.parse(row.params),
            namedInstalls: row.namedInstalls,
          },
    creatives: Object.fromEntries(named.map(({ id, name }) => [id, name])),
  };
}
