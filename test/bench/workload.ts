import { dayFromNumber, dayNumber } from '../../src/lib/time.ts';
import type { LoggedEvent } from '../../src/rollup/event.ts';
import { pick, seededRandom } from '../helpers/random.ts';

// The event mix that every figure is measured with: 80 % ad views (5 formats × 6 networks), 12 % retention, 6 % custom events,
// 2 % purchases; 20 creatives (Zipf), 60 acquisition days, 20,000 devices, 5 currencies.

const FORMATS = ['rewarded_video', 'interstitial', 'banner', 'native', 'app_open'];
const NETWORKS = ['admob', 'unity_ads', 'applovin', 'ironsource', 'meta_an', 'vungle'];
const CURRENCIES = ['usd', 'usd', 'usd', 'eur', 'gbp', 'jpy', 'brl'];
const DEVICES = 20_000;
const CREATIVES = 20;
const ACQUISITION_DAYS = 60;
const LAST_DAY = dayNumber('2026-03-01');

const hex = (number: number) => number.toString(16).padStart(32, '0');

export const APPLICATION_ID = `app_${hex(1)}`;
export const CREATIVE_IDS = Array.from({ length: CREATIVES }, (_, index) => `crt_${hex(1 + index)}`);

export type BenchDevice = { id: string; creativeId: string; acquiredDay: string };

/** An index from 0 to n - 1 with probabilities as 1, 1/2, 1/3 … (Zipf's law with exponent 1). */
function zipf(random: () => number, n: number): number {
  const total = Array.from({ length: n }, (_, index) => 1 / (index + 1)).reduce(
    (sum, share) => sum + share,
    0,
  );
  let rest = random() * total;
  for (let index = 0; index < n; index++) {
    rest -= 1 / (index + 1);
    if (rest < 0) return index;
  }
  return n - 1;
}

export function makeDevices(seed: number): BenchDevice[] {
  const random = seededRandom(seed);
  return Array.from({ length: DEVICES }, (_, index) => ({
    id: `dev_${hex(index)}`,
    creativeId: CREATIVE_IDS[zipf(random, CREATIVES)] ?? '',
    acquiredDay: dayFromNumber(LAST_DAY - ACQUISITION_DAYS + 1 + Math.floor(random() * ACQUISITION_DAYS)),
  }));
}

/**
 * An endless stream of events as the queue carries them. They happen on the last `days` days; `nextId` mints ids, so that
 * they hold the second in which they are made, as in production.
 */
export function* makeEvents(
  seed: number,
  devices: BenchDevice[],
  days: number,
  nextId: () => string,
): Generator<LoggedEvent, never> {
  const random = seededRandom(seed);
  for (;;) {
    const device = pick(random, devices);
    const earliest = Math.max(dayNumber(device.acquiredDay), LAST_DAY - days + 1);
    const number = earliest + Math.floor(random() * (LAST_DAY - earliest + 1));
    const occurredAt = number * 86_400_000 + Math.floor(random() * 86_400_000);
    const common = {
      id: nextId(),
      application_id: APPLICATION_ID,
      device_id: device.id,
      creative_id: device.creativeId,
      acquired_day: device.acquiredDay,
      day: dayFromNumber(number),
      occurred_at: occurredAt,
      received_at: occurredAt + 1000,
    };
    const kind = random();
    const currency = pick(random, CURRENCIES);
    if (kind < 0.8) {
      yield {
        ...common,
        type: 'custom.ad',
        ad_id: pick(random, ['level_end', 'shop', 'start']),
        name: 'Level end',
        source: pick(random, FORMATS),
        media_source: pick(random, NETWORKS),
        channel: 'paid',
        watch_time: 30,
        reward: true,
        value_micros: Math.floor(random() * 20_000),
        currency,
      };
    } else if (kind < 0.92) {
      const age = number - dayNumber(device.acquiredDay);
      yield { ...common, type: 'retention', age, session_id: `${Math.floor(random() * 1e9)}` };
    } else if (kind < 0.98) {
      const event_name = `level_${1 + Math.floor(random() * 10)}`;
      yield { ...common, type: 'custom', event_name, params: { value: '1', id: 'a', key: 'b' } };
    } else {
      yield {
        ...common,
        type: 'custom.purchase',
        item_id: `pack_${1 + Math.floor(random() * 5)}`,
        item_name: 'Pack',
        value_micros: 4_990_000,
        currency,
        status: 'completed',
        tr_id: `${Math.floor(random() * 1e12)}`,
        keys: [`success:t:${Math.floor(random() * 1e12)}`],
      };
    }
  }
}

export const BATCH_EVENTS = 500;

export const median = (values: number[]) =>
  [...values].sort((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0;
