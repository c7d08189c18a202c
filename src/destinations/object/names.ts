import { and, eq } from 'drizzle-orm';
import { adsets, campaigns, clicks, creatives, database, isAmong } from '#db';
import type { IdAndName } from '#networks/outbound';
import { Lookup } from './lookup.ts';
import type { Job } from './store.ts';

export type AdNames = { creative: IdAndName; adset: IdAndName; campaign: IdAndName };
type ClickParams = Readonly<Record<string, string>>;

async function readNames(d1: D1Database, ids: readonly string[]): Promise<Map<string, AdNames>> {
  const rows = await database(d1)
    .select({
      creative: { id: creatives.id, name: creatives.name },
      adset: { id: adsets.id, name: adsets.name },
      campaign: { id: campaigns.id, name: campaigns.name },
    })
    .from(creatives)
    .innerJoin(adsets, eq(adsets.id, creatives.adsetId))
    .innerJoin(campaigns, eq(campaigns.id, adsets.campaignId))
    .where(isAmong(creatives.id, ids));
  return new Map(rows.map((row) => [row.creative.id, row]));
}

async function readParams(
  d1: D1Database,
  applicationId: string,
  ids: readonly string[],
): Promise<Map<string, ClickParams>> {
  const rows = await database(d1)
    .select({ id: clicks.id, params: clicks.params })
    .from(clicks)
    .where(and(eq(clicks.applicationId, applicationId), isAmong(clicks.id, ids)));
  return new Map(rows.flatMap(({ id, params }) => (params === null ? [] : [[id, JSON.parse(params)]])));
}

const creativesOf = (jobs: readonly Job[]) =>
  new Set(jobs.flatMap(({ item }) => item.event.creative_id || []));
/** The clicks whose parameters are not kept with the device, because they were stored after it, or do not exist. */
const clicksOf = (jobs: readonly Job[]) =>
  new Set(
    jobs.flatMap(({ item }) => {
      const { click_id, click_params } = item.device?.attribution ?? {};
      return click_params === undefined ? click_id || [] : [];
    }),
  );

/** What an event does not tell itself: its creative with its names, and the parameters of its device's click while that is stored, unless they are kept with the device. */
export class Names {
  private readonly db: () => D1Database;
  private readonly creatives = new Lookup((ids) => readNames(this.db(), ids));
  private readonly clicks = new Lookup((ids) => readParams(this.db(), this.applicationId, ids));
  /** An object has one, which is not known before its destination is read. */
  private applicationId = '';

  constructor(db: () => D1Database) {
    this.db = db;
  }

  /** `soon`: those that are sent next. Throws if D1 does not respond. */
  async of(
    applicationId: string,
    jobs: readonly Job[],
    soon: readonly Job[],
    now: number,
  ): Promise<{ creatives: ReadonlyMap<string, AdNames>; clicks: ReadonlyMap<string, ClickParams> }> {
    this.applicationId = applicationId;
    return {
      creatives: await this.creatives.of(creativesOf(jobs), creativesOf(soon), now),
      clicks: await this.clicks.of(clicksOf(jobs), clicksOf(soon), now),
    };
  }
}
