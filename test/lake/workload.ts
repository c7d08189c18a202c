import type { LoggedEvent } from '../../src/catalogue/index.ts';
import { seededRandom } from '../helpers/random.ts';

// Events as SDKs send them: a key on every event, a description of the device, running totals. 80 % ad views, 12 % retention,
// 6 % custom events, 2 % purchases.

const FORMATS = ['rewarded_video', 'interstitial', 'banner', 'native', 'app_open'];
const NETWORKS = ['admob', 'unity_ads', 'applovin', 'ironsource', 'meta_an', 'vungle'];
const MODELS = Array.from({ length: 200 }, (_, index) => `SM-A${100 + index}F`);
/** Of one device in 20 no country is known. */
const COUNTRIES = [
  'us',
  'de',
  'fr',
  'gb',
  'br',
  'in',
  'id',
  'jp',
  'kr',
  'mx',
  'tr',
  'vn',
  'it',
  'es',
  'pl',
  'nl',
  'ca',
  'au',
  'se',
];
const CURRENCIES = ['usd', 'usd', 'usd', 'eur', 'gbp', 'jpy', 'brl'];
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export const APPLICATION_ID = `app_${'0'.repeat(31)}1`;

type Options = { events: number; devices: number; seed?: number; startsAt?: number };

/** Events of one hour from `startsAt` on, in the order of receipt, in slices of 500. */
export function* makeSlices({
  events,
  devices,
  seed = 1,
  startsAt = Date.UTC(2026, 2, 10, 9),
}: Options): Generator<LoggedEvent[]> {
  const random = seededRandom(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  const pick = <Item>(items: readonly Item[]): Item => {
    const item = items[below(items.length)];
    if (item === undefined) throw new Error('nothing to pick from');
    return item;
  };
  const hex = (length: number) => Array.from({ length }, () => below(16).toString(16)).join('');
  // Joined rather than concatenated: a concatenated text keeps its parts in memory, of which a test with a small heap has many.
  const uuidv7 = (prefix: string, at: number) =>
    [prefix, at.toString(16).padStart(12, '0'), '7', hex(3), '8', hex(15)].join('');
  const uuid = () => `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(12)}`;
  const creatives = Array.from({ length: 20 }, () => uuidv7('crt_', startsAt - 80 * DAY_MS));
  const known = Array.from({ length: devices }, (_, index) => {
    const bornAt = startsAt - below(60 * DAY_MS);
    return {
      bornAt,
      id: uuidv7('dev_', bornAt),
      tokenId: uuidv7('tok_', bornAt + 5),
      creativeId: random() < 0.3 ? null : (creatives[Math.floor(20 ** random()) - 1] ?? null),
      acquiredDay: new Date(bornAt).toISOString().slice(0, 10),
      total: 0,
      country: COUNTRIES[index % 20],
      os: index % 3 === 0 ? ('ios' as const) : ('android' as const),
      network: index % 4 === 0 ? undefined : index % 5 === 0 ? 'tiktok' : 'meta',
      device: {
        device_name: 'Android',
        device_model: pick(MODELS),
        os_system: `Android OS ${9 + below(6)} / API-${28 + below(6)}`,
        app_version: `1.${below(5)}.0`,
        utc_offset: String(below(24) - 11),
        sdk_version: '2.3.1',
      },
    };
  });
  let slice: LoggedEvent[] = [];
  for (let index = 0; index < events; index++) {
    const device = pick(known);
    const receivedAt = startsAt + Math.floor((index * HOUR_MS) / events);
    const occurredAt = Math.floor((receivedAt - below(5_000)) / 1_000) * 1_000;
    const common = {
      id: uuidv7('evt_', receivedAt),
      application_id: APPLICATION_ID,
      device_id: device.id,
      token_id: device.tokenId,
      creative_id: device.creativeId,
      acquired_day: device.acquiredDay,
      day: new Date(occurredAt).toISOString().slice(0, 10),
      occurred_at: occurredAt,
      received_at: receivedAt,
      ...(device.country ? { country: device.country } : {}),
      os_family: device.os,
      ...(device.network ? { network: device.network } : {}),
      key_day: Math.floor(occurredAt / DAY_MS),
      keys: [`e:${uuid()}`],
      device: device.device,
    };
    const kind = random();
    if (kind < 0.8) {
      const nanos = below(20_000_000);
      device.total += nanos;
      slice.push({
        ...common,
        type: 'custom.ad',
        ad_id: pick(['level_end', 'shop', 'start']),
        name: 'Level end',
        source: pick(FORMATS),
        media_source: pick(NETWORKS),
        watch_time: below(30),
        reward: random() < 0.5,
        value_nanos: nanos,
        currency: 'usd',
        total_ad_value: device.total / 1e9,
      });
    } else if (kind < 0.92) {
      const age = Math.floor((occurredAt - device.bornAt) / DAY_MS);
      slice.push({ ...common, type: 'retention', age, session_id: uuid() });
    } else if (kind < 0.98) {
      const params = { level: String(below(50)), result: pick(['won', 'lost']), seconds: String(below(300)) };
      slice.push({ ...common, type: 'custom', event_name: `level_${1 + below(10)}`, params });
    } else {
      const transaction = `GPA.${below(9999)}-${below(9999)}-${below(9999)}-${hex(100)}`;
      slice.push({
        ...common,
        type: 'custom.purchase',
        item_id: `pack_${1 + below(5)}`,
        item_name: 'Pack',
        value_nanos: 4_990_000_000,
        currency: pick(CURRENCIES),
        status: 'success',
        tr_id: transaction,
        keys: [`success:e:${uuid()}`, `success:d:${transaction}`, `success:t:${transaction}`],
        total_purchase_value: below(20) * 4.99,
      });
    }
    if (slice.length === 500) {
      yield slice;
      slice = [];
    }
  }
  if (slice.length > 0) yield slice;
}
