import { DAY_MS, MINUTE_MS } from '#lib/time';
import { Random, roundTo } from './random.ts';
import {
  activeOn,
  COUNTRIES,
  type Country,
  CREATIVES,
  FORMATS,
  ITEMS,
  leavesAfter,
  MODELS,
  type Model,
  NETWORKS,
  PAID_SHARE,
  PAYER_SHARE,
  UNITS_PER_DOLLAR,
  WEEKDAYS,
} from './world.ts';

export type SimulatedDevice = {
  id: string;
  acquiredAt: number;
  country: Country;
  model: Model;
  /** An index into `CREATIVES`; null for an organic device. */
  creative: number | null;
};

export const numberOf = ({ id }: Pick<SimulatedDevice, 'id'>) => Number(/\d+$/.exec(id)?.[0] ?? 0);

/** An event without its token, which only the service can issue. */
export type SimulatedEvent = { type: string; created_at: string; event_id: string } & Record<string, unknown>;

/**
 * The devices acquired on the `days` days (UTC) up to today, oldest first: more on weekends, and more from day to day. Each has the same day whenever
 * it is simulated today, so that a repeat has the same costs.
 */
export function simulateDevices(
  random: Random,
  count: number,
  days: number,
  now: number,
  seed: number,
): SimulatedDevice[] {
  const today = now - (now % DAY_MS);
  const spans = Array.from({ length: days }, (_, index) => today - (days - 1 - index) * DAY_MS);
  const weighted = spans.map((start, index) => {
    const growth = 1 + (0.5 * index) / days;
    return [start, (WEEKDAYS[new Date(start + DAY_MS / 2).getUTCDay()] ?? 1) * growth] as const;
  });
  const zipf = CREATIVES.map((_, index) => [index, 1 / (index + 1)] as const);
  const countries = COUNTRIES.map((country) => [country, country.weight] as const);
  const within = (start: number) => start + Math.floor(random.next() * Math.min(DAY_MS, now - start));
  return Array.from({ length: count }, (_, index) => ({
    id: `simulated-${seed}-${index}`,
    acquiredAt: within(random.weighted(weighted)),
    country: random.weighted(countries),
    model: random.weighted(MODELS),
    creative: random.chance(PAID_SHARE) ? random.weighted(zipf) : null,
  })).sort((left, right) => left.acquiredAt - right.acquiredAt);
}

export type SimulatedImpression = {
  id: string;
  /** An index into `CREATIVES`. */
  creative: number;
  at: number;
  country: Country;
  model: Model;
  /** The address of a person that later installs without a click; null for all others. */
  viewer: string | null;
};

/** How late a network's server may report a click or impression, less a day. */
export const REPORTED_WITHIN_MS = 27 * DAY_MS;

/**
 * The impressions that networks report: some for each device that an ad brought, and one that a third of the last day's other devices saw before
 * they were acquired. Those of a device do not depend on the others, so that a repeat reports the same.
 */
export function simulateImpressions(
  seed: number,
  devices: readonly SimulatedDevice[],
  now: number,
): SimulatedImpression[] {
  const recent = devices.filter(({ acquiredAt }) => acquiredAt > now - REPORTED_WITHIN_MS);
  return recent.flatMap((device) => {
    const { id, acquiredAt, country, model } = device;
    const random = new Random(seed + numberOf(device));
    const shown = (index: number, creative: number, viewer: string | null) => ({
      ...{ id: `${id}-shown-${index}`, creative, country, model, viewer },
      at: acquiredAt - Math.floor(random.between(1, 30) * MINUTE_MS),
    });
    if (device.creative !== null) {
      const { creative } = device;
      return Array.from({ length: random.whole(2, 6) }, (_, index) => shown(index, creative, null));
    }
    const isViewer = acquiredAt > now - DAY_MS / 2 && random.chance(1 / 3);
    return isViewer ? [shown(0, random.whole(0, CREATIVES.length - 1), id)] : [];
  });
}

/** A webhook's `created_at`: UTC, whole seconds. */
const stamp = (at: number) => new Date(at).toISOString().slice(0, 19).replace('T', ' ');

export const timeOf = ({ created_at }: SimulatedEvent): number =>
  Date.parse(`${created_at.replace(' ', 'T')}Z`);

/** Everything that a device does until `now`, in order, with the running totals that its client would keep. */
export function simulateEvents(random: Random, device: SimulatedDevice, now: number): SimulatedEvent[] {
  const { country, id } = device;
  const quality = device.creative === null ? 1.2 : (CREATIVES[device.creative]?.quality ?? 1);
  const last = leavesAfter(random.next(), quality);
  const payer = random.chance(PAYER_SHARE * quality);
  const events: SimulatedEvent[] = [];
  const totals = { ads: 0, purchases: 0 };
  let level = 1;

  const send = (type: string, at: number, payload: Record<string, unknown>) => {
    if (at > now) return;
    events.push({
      type,
      created_at: stamp(at),
      event_id: `${id}-${events.length}`,
      device_name: device.model.name,
      device_model: device.model.name,
      os_system: device.model.os,
      utc_offset: country.utcOffset,
      payload,
    });
  };

  for (let age = 0; device.acquiredAt + age * DAY_MS <= now; age++) {
    if (age > 0 && !(age <= last && random.chance(activeOn(age)))) continue;
    const sessions = 1 + (random.chance(0.45) ? 1 : 0) + (random.chance(0.15) ? 1 : 0);
    for (let session = 0; session < sessions; session++) {
      const jitter = age === 0 ? session * random.between(20, 200) : random.between(-300, 300);
      let at =
        device.acquiredAt + age * DAY_MS + Math.floor(Math.max(age === 0 ? 0 : -600, jitter) * MINUTE_MS);
      at = Math.max(at, device.acquiredAt);
      const startedAt = at;
      const sessionId = `${age}-${session}`;
      send('retention', at, { session_id: sessionId, retentionDay: String(age) });
      for (const format of FORMATS) {
        const asked = Math.floor(format.perSession * random.spread(0.5) + random.next());
        if (asked === 0) continue;
        at += Math.floor(random.between(0.5, 3) * MINUTE_MS);
        send('custom', at, {
          event_name: 'ad_request',
          params: { id: format.placement, key: format.source, value: String(asked) },
        });
        for (let shown = 0; shown < asked; shown++) {
          if (!random.chance(format.fillRate)) continue;
          const network = random.weighted(NETWORKS);
          const dollars = (format.ecpm / 1000) * network.pays * country.value * random.spread(0.5);
          const value = roundTo(dollars, 0.000001);
          const shownAt = at + shown * 1000;
          if (shownAt <= now) totals.ads = roundTo(totals.ads + value, 0.000001);
          send('custom.ad', shownAt, {
            ad_id: format.placement,
            name: format.placement,
            source: format.source,
            media_source: network.name,
            channel: 'paid',
            watch_time: format.source === 'rewarded_video' ? 30 : 0,
            reward: format.source === 'rewarded_video',
            value,
            currency: 'usd',
            total_ad_value: totals.ads,
          });
        }
      }
      while (random.chance(0.55)) {
        level += 1;
        send('custom', at, { event_name: 'level_up', params: { value: String(level) } });
      }
      if (age === 0 && session === 0 && random.chance(0.8))
        send('custom', at, { event_name: 'tutorial_done' });
      if (payer && random.chance(age === 0 ? 0.5 : 0.25)) buy(at);
      at += Math.floor(random.between(0.5, 3) * MINUTE_MS);
      send('session', at, { a: 'end', sid: sessionId, sd: Math.round((at - startedAt) / 1000) });
    }
  }
  return events;

  function buy(at: number): void {
    const item = random.weighted(ITEMS);
    const units = UNITS_PER_DOLLAR[country.currency] ?? 1;
    const value = roundTo(item.price * units, country.currency === 'jpy' ? 1 : 0.01);
    const failed = random.chance(0.08);
    if (!failed && at <= now) totals.purchases = roundTo(totals.purchases + value, 0.01);
    send('custom.purchase', at, {
      item_id: item.id,
      item_name: item.name,
      value,
      currency: country.currency,
      status: failed ? 'failed' : 'completed',
      total_purchase_value: totals.purchases,
      tr_id: `${id}-order-${events.length}`,
    });
  }
}

/** Daily reference rates in dollars: a random walk of a few tenths of a percent per day. */
export function simulateRates(random: Random, days: readonly string[]) {
  const worth = Object.entries(UNITS_PER_DOLLAR).filter(([currency]) => currency !== 'usd');
  const now = new Map(worth.map(([currency, units]) => [currency, 1 / units]));
  return days.map((date) => {
    for (const [currency, value] of now) now.set(currency, value * random.spread(0.004));
    const rates = Object.fromEntries(
      [...now].map(([currency, value]) => [currency, roundTo(value, 0.000001)]),
    );
    return { date, base: 'usd', rates };
  });
}
