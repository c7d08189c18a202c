import type { LoggedEvent, OsFamily } from '../../src/catalogue/index.ts';
import { murmur128 } from '../../src/lib/murmur.ts';
import { addDays, dayFromNumber, dayIn, dayNumber } from '../../src/lib/time.ts';
import { pick, seededRandom } from '../helpers/random.ts';

// The event mix that every figure is measured with: 80 % ad views (5 formats × 6 networks), 12 % retention, 6 % custom events,
// 2 % purchases; 20 creatives and 20 countries (Zipf), 3 OS, 60 acquisition days, 5 currencies. As the SDKs send them: an event id each, the
// device's fields, running totals.

const FORMATS = ['rewarded_video', 'interstitial', 'banner', 'native', 'app_open'];
const NETWORKS = ['admob', 'unity_ads', 'applovin', 'ironsource', 'meta_an', 'vungle'];
const CURRENCIES = ['usd', 'usd', 'usd', 'eur', 'gbp', 'jpy', 'brl'];
const CREATIVES = 20;
const COUNTRIES = 'us in br de fr gb id jp mx tr it es kr ph pl ca au vn th nl'.split(' ');
const SYSTEMS: OsFamily[] = ['android', 'android', 'ios', 'windows'];
export const ACQUISITION_DAYS = 60;
let lastDay: number | null = null;

/**
 * Yesterday, because only events of recent days are counted by hour. Read when it is first needed: while workerd loads a script, its
 * clock stands at 1970. The bench and its workerd must not start on two sides of midnight (UTC).
 */
function lastDayNumber(): number {
  lastDay ??= dayNumber(addDays(dayIn('UTC', Date.now()), -1));
  return lastDay;
}

/** A day of the workload, by how many days it is before the last. */
export const benchDay = (age: number): string => dayFromNumber(lastDayNumber() - age);

/** How many devices an application has. */
export const DEVICES = 20_000;
export const MANY_DEVICES = 300_000;

const wordHex = (word: number) => word.toString(16).padStart(8, '0');
const hex = (number: number) => number.toString(16).padStart(32, '0');

export const APPLICATION_ID = `app_${hex(1)}`;
export const CREATIVE_IDS = Array.from({ length: CREATIVES }, (_, index) => `crt_${hex(1_000_001 + index)}`);

export type BenchDevice = {
  id: string;
  creativeId: string;
  acquiredDay: string;
  country: string;
  os: OsFamily;
};

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

/** `oneSegment`: all of one country and OS, to tell what breaking down by segment costs. */
export function makeDevices(seed: number, count = DEVICES, oneSegment = false): BenchDevice[] {
  const random = seededRandom(seed);
  const countries = COUNTRIES.slice(0, oneSegment ? 1 : COUNTRIES.length);
  const systems = SYSTEMS.slice(0, oneSegment ? 1 : SYSTEMS.length);
  return Array.from({ length: count }, (_, index) => ({
    // As random as those of real devices: consecutive ids would be packed into a fraction of the space.
    id: `dev_${murmur128(`device ${index}`).map(wordHex).join('')}`,
    creativeId: CREATIVE_IDS[zipf(random, CREATIVES)] ?? '',
    acquiredDay: benchDay(ACQUISITION_DAYS - 1 - Math.floor(random() * ACQUISITION_DAYS)),
    country: countries[zipf(random, countries.length)] ?? '',
    os: pick(random, systems),
  }));
}

const DEVICE_FIELDS = {
  device_name: 'Pixel 9',
  device_model: 'Pixel 9',
  os_system: 'Android 16',
  utc_offset: '+01:00',
  app_version: '1.4.2',
};

/** What an event says of its device, and when it happened. */
const occurrence = (device: BenchDevice, applicationId: string, number: number, random: () => number) => ({
  application_id: applicationId,
  device_id: device.id,
  creative_id: device.creativeId,
  acquired_day: device.acquiredDay,
  day: dayFromNumber(number),
  occurred_at: number * 86_400_000 + Math.floor(random() * 86_400_000),
  received_at: Date.now(),
  token_id: device.id.replace('dev_', 'tok_'),
});

/**
 * An endless stream of events as the queue carries them, received now. They happened on `days` days, the last of which is `age` days before
 * the workload's last; `nextId` mints ids, so that they hold the moment in which they are made, as in production.
 */
export function* makeEvents(
  seed: number,
  allDevices: BenchDevice[],
  days: number,
  nextId: () => string,
  applicationId = APPLICATION_ID,
  age = 0,
): Generator<LoggedEvent, never> {
  const random = seededRandom(seed);
  const last = lastDayNumber() - age;
  const devices = allDevices.filter(({ acquiredDay }) => dayNumber(acquiredDay) <= last);
  const totals = new Map<string, number>();
  const runningTotal = (key: string, value: number) => {
    const total = (totals.get(key) ?? 0) + value;
    totals.set(key, total);
    return total / 1e6;
  };
  for (;;) {
    const device = pick(random, devices);
    const earliest = Math.max(dayNumber(device.acquiredDay), last - days + 1);
    const number = earliest + Math.floor(random() * (last - earliest + 1));
    const eventId = crypto.randomUUID();
    const common = {
      id: nextId(),
      ...occurrence(device, applicationId, number, random),
      keys: [`e:${eventId}`],
      key_day: number,
      device: DEVICE_FIELDS,
    };
    const kind = random();
    const currency = pick(random, CURRENCIES);
    if (kind < 0.8) {
      const value = Math.floor(random() * 20_000_000);
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
        value_nanos: value,
        currency,
        total_ad_value: runningTotal(`a${device.id}`, value),
      };
    } else if (kind < 0.92) {
      const dayOfLife = number - dayNumber(device.acquiredDay);
      yield { ...common, type: 'retention', age: dayOfLife, session_id: `${Math.floor(random() * 1e9)}` };
    } else if (kind < 0.98) {
      const event_name = `level_${1 + Math.floor(random() * 10)}`;
      yield { ...common, type: 'custom', event_name, params: { value: '1', id: 'a', key: 'b' } };
    } else {
      const transaction = `GPA.${Math.floor(random() * 1e12)}-${eventId}`;
      yield {
        ...common,
        type: 'custom.purchase',
        item_id: `pack_${1 + Math.floor(random() * 5)}`,
        item_name: 'Pack',
        value_nanos: 4_990_000_000,
        currency,
        status: 'completed',
        tr_id: transaction,
        keys: [eventId, transaction, transaction].map((key, index) => `success:${'edt'[index]}:${key}`),
        total_purchase_value: runningTotal(`p${device.id}`, 4_990_000_000),
      };
    }
  }
}

/** The installs of devices acquired from one day to another, both included and given as ages; each on its day. */
export function* makeInstalls(
  seed: number,
  devices: BenchDevice[],
  { from, to }: { from: number; to: number },
  nextId: () => string,
  applicationId: string,
): Generator<LoggedEvent, never> {
  const random = seededRandom(seed);
  for (const device of devices) {
    const number = dayNumber(device.acquiredDay);
    if (number < lastDayNumber() - from || number > lastDayNumber() - to) continue;
    yield { id: nextId(), ...occurrence(device, applicationId, number, random), type: 'install' };
  }
  throw new Error('more installs were asked for than devices were acquired on these days');
}

/** Events of a `/webhook/batch` request. */
export const BATCH_EVENTS = 500;

/** The value that this share of the others does not exceed. */
export const percentile = (values: readonly number[], share: number) =>
  [...values].sort((left, right) => left - right)[Math.ceil(values.length * share) - 1] ?? 0;

export const median = (values: readonly number[]) =>
  [...values].sort((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0;
