import { createHash } from 'node:crypto';
import type { simulateCosts } from './costs.ts';
import type { SimulatedDevice, SimulatedEvent } from './history.ts';
import { isIos, UNITS_PER_DOLLAR } from './world.ts';

// What platforms tell of the simulated application when its connectors ask.

/** In the place of the keys of accounts. */
export const SIMULATED_KEY = 'simulated-key';
/** The network whose costs a connector fetches. */
export const FETCHED_NETWORK = 'tiktok';
/** What mediation reports but no app told: one in so many impressions, because apps end before they have sent everything. */
const UNTOLD_EVERY = 40;

type SimulatedCost = ReturnType<typeof simulateCosts>[number];
/** The revenue of each impression of a day (UTC), in dollars. */
type DayOfAds = { day: string; platform: string; network: string; values: number[] };

export type Simulated = { timezone: string; ads: readonly DayOfAds[]; costs: readonly SimulatedCost[] };

/** Keeps what the devices' ads earned, as mediation does. */
export class AdLedger {
  private readonly days = new Map<string, DayOfAds>();
  private seen = 0;

  add({ model }: SimulatedDevice, events: readonly SimulatedEvent[]): void {
    const platform = isIos(model) ? 'ios' : 'android';
    for (const { type, created_at, payload } of events) {
      if (type !== 'custom.ad') continue;
      const { media_source, value } = payload as Record<string, unknown>;
      const [day, network] = [created_at.slice(0, 10), String(media_source)];
      const key = [day, platform, network].join();
      const own = this.days.get(key) ?? { day, platform, network, values: [] };
      own.values.push(Number(value));
      if (++this.seen % UNTOLD_EVERY === 0) own.values.push(Number(value));
      this.days.set(key, own);
    }
  }

  get rows(): DayOfAds[] {
    return [...this.days.values()];
  }
}

/** The user-level report of AppLovin MAX: a row for each impression. */
export function maxReport({ ads }: Simulated, date: string, platform: string): string {
  const rows = ads.filter((row) => row.day === date && row.platform === platform);
  const lines = rows.flatMap(({ network, values }) =>
    values.map((value) => `${date},${network},${value.toFixed(6)}`),
  );
  return ['Date,Network,Revenue', ...lines, ''].join('\n');
}

/** TikTok's report by day and ad, in one page. */
export function tiktokCosts({ costs }: Simulated, from: string, to: string) {
  const rows = costs.filter(({ date }) => date >= from && date <= to);
  const list = rows.map(({ date, creative, campaign, adset, currency, amount, clicks, impressions }) => {
    // The account is in dollars.
    const spend = (amount / (UNITS_PER_DOLLAR[currency] ?? 1)).toFixed(2);
    const idOf = (name: string) => String(createHash('sha256').update(name).digest().readUIntBE(0, 6));
    return {
      dimensions: { ad_id: idOf(creative), stat_time_day: `${date} 00:00:00` },
      metrics: {
        ...{
          campaign_id: idOf(campaign),
          campaign_name: campaign,
          adgroup_id: idOf(adset),
          adgroup_name: adset,
        },
        ...{ ad_name: creative, spend, impressions: String(impressions), clicks: String(clicks) },
      },
    };
  });
  return { list, page_info: { total_page: 1 } };
}
