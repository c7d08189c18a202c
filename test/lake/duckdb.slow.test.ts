import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isOfDevice, type LoggedEvent } from '#catalogue';
import { type StoredEvent, writeFiles } from '#lake';
import { atOnce } from '#lib/steps';
import { dayFromNumber, daysBetween } from '#lib/time';
import { writeEmptyMonths } from '#rollup';
import { insertDevice } from '../../src/counting/devices/devices.ts';
import { RawFiles } from '../../src/counting/files/raw-files.ts';
import { appendFresh, packEvents } from '../../src/counting/log.ts';
import { FULL_RUN, nextRun } from '../../src/counting/runs/next-run.ts';
import { SeenIds } from '../../src/counting/seen-ids.ts';
import { openStore } from '../../src/counting/store.ts';
import { loadParquet } from '../../src/lib/encoding/parquet.ts';
import { PIXEL } from '../helpers/device-description.ts';
import { memoryStorage } from '../helpers/memory-storage.ts';
import { seededRandom } from '../helpers/random.ts';
import { type CubeInFiles, writeCube } from './cube-files.ts';
import { MemoryBucket } from './memory-bucket.ts';
import { makeSlices } from './workload.ts';

// A real DuckDB runs the queries of docs/data.md, as they stand there, over files that a counter has exported. Only the location of
// the files is bound: the bucket's address is replaced by a local folder. What DuckDB answers is compared with a count of the same events
// that shares nothing with it.

const DOCUMENT = path.join(import.meta.dirname, '../../docs/data.md');
/** As the document names them. */
const BUCKET = 'r2://attribution-raw-events';
const APPLICATION_ID = 'app_0123456789abcdef0123456789abcdef';
const DEVICE_ID = 'dev_0123456789abcdef0123456789abcdef';
/** So that some of the history's devices have not reached the queries' last day number yet. */
const FIRST_DAY = Math.floor(Date.now() / 864e5) - 33;
const DEVICE = {
  acquiredAt: FIRST_DAY * 864e5,
  description: PIXEL,
  attribution: '{}',
};

let folder: string;
let duckdb: DuckDBConnection;
let document: string;
let blocks: { name: string; sql: string }[];
let counted: LoggedEvent[];
let cube: CubeInFiles;

/** 40 days: in each hour events of devices that live on, and devices that are born, come back and tell their day number. */
function makeHistory(): LoggedEvent[] {
  const made: LoggedEvent[] = [];
  const random = seededRandom(7);
  const below = (limit: number) => Math.floor(random() * limit);
  for (const day of [0, 1, 2]) {
    for (const slice of makeSlices({
      events: 1_500,
      devices: 90,
      startsAt: (FIRST_DAY + day) * 864e5 + 36e5,
    })) {
      made.push(...slice);
    }
  }
  for (let device = 0; device < 80; device++) {
    const acquired = FIRST_DAY + below(6);
    const hex = device.toString(16).padStart(4, '0');
    for (const age of [0, ...Array.from({ length: 40 }, (_, day) => day + 1).filter(() => random() < 0.2)]) {
      const common = {
        device_id: `dev_${hex}${'0'.repeat(24)}${hex}`,
        creative_id: device % 3 ? `crt_${'0'.repeat(31)}${device % 3}` : null,
        acquired_day: dayFromNumber(acquired),
        day: dayFromNumber(acquired + age),
        occurred_at: (acquired + age) * 864e5 + below(864e5),
      };
      const reported = Math.max(0, age + below(3) - 1);
      const attribution_method = device % 3 ? 'referrer' : 'organic';
      made.push(
        (age === 0
          ? { ...common, type: 'install', attribution_method, attribution_confidence: device % 3 ? 1 : 0.75 }
          : { ...common, type: 'retention', age: reported }) as LoggedEvent,
      );
    }
  }
  return made.map((event, index) => ({
    ...event,
    ...(index % 17 === 0 ? { device_id: DEVICE_ID, acquired_day: dayFromNumber(FIRST_DAY) } : {}),
    id: `evt_${index.toString(16).padStart(32, '0')}`,
    application_id: APPLICATION_ID,
    received_at: event.occurred_at + 1_000 + (index % 29 === 0 ? (index % 4) * 864e5 : 0),
    keys: [`e:${index}`],
    key_day: Math.floor(event.occurred_at / 864e5),
    ...(index % 43 === 0 ? { test: true as const } : {}),
  })) as LoggedEvent[];
}

/**
 * What stores tell of payments: of some that clients send too, of some that they don't, for devices and for nobody, with renewals, a trial and refunds.
 * One payment is told by two services.
 */
function makePayments(): LoggedEvent[] {
  const made: LoggedEvent[] = [];
  const at = (day: number, second: number) => ({
    application_id: APPLICATION_ID,
    day: dayFromNumber(FIRST_DAY + day),
    occurred_at: (FIRST_DAY + day) * 864e5 + second * 1e3,
    received_at: (FIRST_DAY + day) * 864e5 + second * 1e3 + 500,
    id: `evt_e${(made.length + 1).toString(16).padStart(31, '0')}`,
  });
  const told = (day: number, status: string, tr_id: string, more: object) =>
    made.push({
      ...at(day, 7_200),
      ...{ type: 'store', store: 'apple', status, tr_id, currency: 'eur', value_nanos: 7_130_000_001 },
      ...{ creative_id: null, ...more },
    } as LoggedEvent);
  for (let index = 0; index < 24; index++) {
    const hex = index.toString(16).padStart(4, '0');
    const device = {
      device_id: `dev_d${hex}${'0'.repeat(23)}${hex}`,
      creative_id: index % 4 ? `crt_${'0'.repeat(31)}${1 + (index % 2)}` : null,
      acquired_day: dayFromNumber(FIRST_DAY),
    };
    made.push({
      ...at(0, 60 + index),
      ...device,
      type: 'install',
      attribution_method: 'referrer',
      attribution_confidence: 1,
    } as LoggedEvent);
    const sale = `sale_${index}`;
    const sends = () =>
      made.push({
        ...at(index % 3, 3_600),
        ...{ ...device, type: 'custom.purchase', item_id: 'gold', status: 'success', tr_id: sale },
        ...{ value_nanos: 9_990_000_000 + index, currency: 'usd' },
      } as LoggedEvent);
    if (index % 3 === 0) sends();
    if (index % 3 !== 0) told(index % 3, 'purchase', sale, device);
    if (index % 3 === 1) sends();
    if (index % 6 === 0) told(4, 'purchase', sale, { store: 'revenuecat' });
    if (index % 5 === 0) told(12, 'renewal', `${sale}_2`, { original_tr_id: sale });
    if (index % 7 === 0) told(13, 'refunded', sale, { value_nanos: 0 });
  }
  told(2, 'purchase', 'nobody', {});
  told(3, 'purchase', 'nobody', { store: 'revenuecat', value_nanos: 1 });
  told(2, 'trial', 'trial', { value_nanos: 0 });
  told(9, 'renewal', 'trial_2', { original_tr_id: 'trial' });
  return made;
}

/** The counter's own way into the files: what was appended is counted, then exported. */
async function exportThroughCounter(sent: readonly LoggedEvent[]): Promise<MemoryBucket> {
  const storage = memoryStorage();
  const store = openStore(storage);
  const acquired = new Map(
    sent.flatMap((event) => (isOfDevice(event) ? [[event.device_id, event] as const] : [])),
  );
  for (const [id, { acquired_day: acquiredDay, creative_id: creativeId }] of acquired) {
    insertDevice(store, null, { ...DEVICE, id, acquiredDay, creativeId });
  }
  const now = Date.now();
  const seen = new SeenIds(store);
  for (let start = 0; start < sent.length; start += 500) {
    appendFresh(store, seen, packEvents(APPLICATION_ID, sent.slice(start, start + 500)), now - 7_200_000);
  }
  await loadParquet();
  while (atOnce(nextRun(storage, APPLICATION_ID, FULL_RUN, now)));
  const bucket = new MemoryBucket();
  const files = new RawFiles({
    store: () => store,
    bucket: () => bucket,
    source: () => ({ applicationId: APPLICATION_ID, shard: 0 }),
    seen: () => seen,
    transaction: (work) => storage.transactionSync(work),
  });
  await files.work(Number.POSITIVE_INFINITY);
  return bucket;
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'lake-'));
  cube = await writeCube(folder, APPLICATION_ID);
  const events = [...makeHistory(), ...makePayments()];
  counted = events.filter((event) => !('test' in event && event.test));
  // Each of the repeats has a key of an event that counts.
  const repeats = counted
    .filter((event, index) => index % 41 === 0 && 'keys' in event)
    .map((event, index) => ({ ...event, id: `evt_f${index.toString(16).padStart(31, '0')}` }));
  const bucket = await exportThroughCounter([...events, ...repeats]);
  for (const [key, bytes] of bucket.objects) {
    const file = path.join(folder, key);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, bytes);
  }
  document = await readFile(DOCUMENT, 'utf8');
  blocks = [...document.matchAll(/^```sql ?(\S*)\n(.*?)^```/gms)].map(([, name = '', sql = '']) => ({
    name,
    sql,
  }));
  duckdb = await (await DuckDBInstance.create()).connect();
  await duckdb.run("SET TimeZone = 'UTC'");
  for (const { name, sql } of blocks) if (name === '') await duckdb.run(sql.replaceAll(BUCKET, folder));
});
afterAll(async () => {
  await cube?.stop();
  duckdb?.closeSync();
  await rm(folder, { recursive: true, force: true });
});

/** What the last statement of a block of the document answers, as text. */
async function run(name: string, from = folder): Promise<unknown[][]> {
  const block = blocks.find((candidate) => candidate.name === name);
  if (!block) throw new Error(`The document has no query ${name}`);
  const statements = block.sql
    .replaceAll(BUCKET, from)
    .split(/;\n/)
    .filter((statement) => statement.trim() !== '');
  for (const statement of statements.slice(0, -1)) await duckdb.run(statement);
  return (await duckdb.runAndReadAll(statements.at(-1) ?? '')).getRowsJson();
}

const decimal = (nanos: number) => `${Math.floor(nanos / 1e9)}.${String(nanos % 1e9).padStart(9, '0')}`;

/** Adds events up under keys; rows in the order of the keys. */
function group<Event>(
  items: Event[],
  keyOf: (event: Event) => unknown[],
): { key: unknown[]; items: Event[] }[] {
  return [...Map.groupBy(items, (item) => JSON.stringify(keyOf(item)))]
    .map(([key, own]) => ({ key: JSON.parse(key), items: own }))
    .sort((left, right) => {
      const index = left.key.findIndex((part: unknown, at: number) => part !== right.key[at]);
      const [first, second] = [left.key[index], right.key[index]];
      // As DuckDB orders: null comes last.
      return first === null ? 1 : second === null ? -1 : first < second ? -1 : 1;
    });
}

const of = <Type extends LoggedEvent['type']>(type: Type) =>
  counted.filter((event): event is Extract<LoggedEvent, { type: Type }> => event.type === type);

it('shows how to connect, and runs everything else', () => {
  expect(blocks.filter(({ name }) => name === 'connect')).toHaveLength(1);
  expect(blocks.filter(({ name }) => name === '')).toHaveLength(3);
  expect(blocks.map(({ name }) => name).filter((name) => name !== '' && name !== 'connect')).toEqual([
    'last-week',
    'all-applications',
    'late-events',
    'installs',
    'ad-revenue',
    'device-history',
    'retention',
    'purchases',
    'custom-events',
    'creatives-by-country',
    'cohort-activity',
    'campaigns',
    'spend',
  ]);
});

it('describes the columns correctly', async () => {
  const [, columns = ''] = document.split(/^### Columns of raw events|^## The cube/m);
  const described = [...columns.matchAll(/^\| `(\w+)` \| ([^|]+) \|/gm)].map(([, name, type]) => [
    name,
    type,
  ]);
  const result = await duckdb.runAndReadAll('DESCRIBE events');
  expect(described).toEqual(result.getRowsJson().map(([name, type]) => [name, type]));
});

it('opens only the files of the days that a query asks for', async () => {
  const expected = group(
    counted.filter(({ day }) => day >= dayFromNumber(Math.floor(Date.now() / 864e5) - 7)),
    ({ day, type }) => [day, type],
  );
  expect(expected.length).toBeGreaterThan(5);
  expect(await run('last-week')).toEqual(expected.map(({ key, items }) => [...key, String(items.length)]));
  const query = "SELECT count(*) FROM events WHERE day >= getvariable('first_day')";
  const plan = JSON.stringify((await duckdb.runAndReadAll(`EXPLAIN ANALYZE ${query}`)).getRowsJson());
  const [, opened, all] = /Scanning Files: (\d+)\/(\d+)/.exec(plan) ?? [];
  const days = new Set(counted.map(({ day }) => day));
  expect(Number(all)).toBe(days.size);
  expect(Number(opened)).toBe(new Set(expected.map(({ key: [day] }) => day)).size);
});

it('names the application and the day of an event in the path as in its columns', async () => {
  const different = await duckdb.runAndReadAll(
    'SELECT count(*) FROM events WHERE day <> event_day OR application <> application_id',
  );
  expect(different.getRowsJson()).toEqual([['0']]);
});

it('queries the events of all applications', async () => {
  const expected = group(counted, ({ day }) => [APPLICATION_ID, day.slice(0, 7)]);
  expect(await run('all-applications')).toEqual(
    expected.map(({ key, items }) => [...key, String(items.length)]),
  );
});

it('queries how late events arrive', async () => {
  const expected = group(counted, ({ day, received_at }) => [
    Math.max(0, daysBetween(day, new Date(received_at).toISOString().slice(0, 10))),
  ]);
  expect(expected.length).toBeGreaterThan(2);
  expect((await run('late-events')).map(([late, events]) => [Number(late), events])).toEqual(
    expected.map(({ key, items }) => [...key, String(items.length)]),
  );
});

it('queries installs by how they were attributed', async () => {
  const expected = group(of('install'), ({ attribution_method }) => [
    null,
    attribution_method ?? null,
    'android',
  ]);
  expect(expected.length).toBeGreaterThan(1);
  expect(await run('installs')).toEqual(
    expected.map(({ key, items }) => [
      ...key,
      String(items.length),
      expect.closeTo(
        items.reduce((sum, { attribution_confidence = 0 }) => sum + attribution_confidence, 0) / items.length,
        3,
      ),
    ]),
  );
});

it('queries ad revenue by network and day', async () => {
  const expected = group(of('custom.ad'), ({ day, media_source, currency }) => [
    day,
    media_source ?? 'unknown',
    currency,
  ]);
  expect(expected.length).toBeGreaterThan(10);
  expect(await run('ad-revenue')).toEqual(
    expected.map(({ key, items }) => [
      ...key,
      String(items.length),
      decimal(items.reduce((sum, { value_nanos }) => sum + value_nanos, 0)),
    ]),
  );
});

it('queries one device’s history', async () => {
  const own = counted
    .filter((event) => 'device_id' in event && event.device_id === DEVICE_ID)
    .sort((left, right) => left.occurred_at - right.occurred_at || (left.id < right.id ? -1 : 1));
  expect(own.length).toBeGreaterThan(100);
  const rows = await run('device-history');
  expect(rows.map(([at, id, type]) => [Date.parse(String(at).replace('+00', 'Z')), id, type])).toEqual(
    own.map(({ occurred_at, id, type }) => [occurred_at, id, type]),
  );
});

it('queries retention as the report defines it', async () => {
  const rows = await run('retention');
  const today = String((await duckdb.runAndReadAll("SELECT getvariable('today')")).getRowsJson()[0]?.[0]);
  expect(today).toBe(new Date().toISOString().slice(0, 10));
  const ages = new Map<string, { acquiredDay: string; ages: Set<number> }>();
  for (const event of counted) {
    if (!isOfDevice(event)) continue;
    const name = `${event.acquired_day}/${event.device_id}`;
    const device = ages.get(name) ?? { acquiredDay: event.acquired_day, ages: new Set() };
    const age =
      event.type === 'retention' ? event.age : Math.max(0, daysBetween(event.acquired_day, event.day));
    device.ages.add(age);
    ages.set(name, device);
  }
  const activity = [...ages.values()].flatMap(({ acquiredDay, ages: own }) =>
    [...own].map((age) => ({ acquiredDay, age, active: 1, lastActive: age === Math.max(...own) ? 1 : 0 })),
  );
  const countsOf = (rows: typeof activity, day: number) => {
    const over = rows.filter((row) => daysBetween(row.acquiredDay, today) > day);
    const count = (some: typeof activity, name: 'active' | 'lastActive') =>
      some.reduce((sum, row) => sum + row[name], 0);
    const at = (age: number) =>
      count(
        over.filter((row) => row.age === age),
        'active',
      );
    const later = count(
      over.filter((row) => row.age >= day),
      'lastActive',
    );
    const [eligible, active] = [at(0), at(day)];
    const share = (some: number) => (eligible === 0 ? null : some / eligible);
    return { eligible, active, classic: share(active), rolling: share(later) };
  };
  const expected = group(activity, ({ acquiredDay }) => [acquiredDay]).flatMap(({ key, items }) =>
    [1, 7, 30].map((day) => ({ key: [...key, day], counts: countsOf(items, day) })),
  );
  const answered = rows.map(([acquiredDay, day, eligible, active, classic, rolling]) => ({
    key: [acquiredDay, day],
    counts: { eligible: Number(eligible), active: Number(active), classic, rolling },
  }));
  expect(answered).toEqual(expected.filter(({ counts }) => counts.eligible > 0));
  expect(answered.some(({ key }) => key[1] === 30)).toBe(true);
  expect(answered.length).toBeLessThan(expected.length);
});

it('queries purchases by creative', async () => {
  const successful = of('custom.purchase').filter(
    ({ status }) => status === 'completed' || status === 'success',
  );
  // The first that a store tells of a payment decides its amount, and a client's event its device.
  const told = new Map<string, Extract<LoggedEvent, { type: 'store' }>>();
  for (const event of of('store').sort((left, right) => (left.id < right.id ? -1 : 1))) {
    if (!event.status.startsWith('refund') && !told.has(event.tr_id)) told.set(event.tr_id, event);
  }
  const sent = new Map(successful.flatMap((event) => (event.tr_id ? [[event.tr_id, event] as const] : [])));
  type Payment = {
    device_id?: string | undefined;
    creative_id: string | null;
    currency: string;
    value_nanos: number;
  };
  const payments: Payment[] = successful.map((event) => {
    const { currency, value_nanos } = told.get(event.tr_id ?? '') ?? event;
    return { ...event, currency, value_nanos };
  });
  for (const event of told.values()) {
    if (sent.has(event.tr_id) || event.status === 'trial') continue;
    const first = sent.get(event.original_tr_id ?? '') ?? told.get(event.original_tr_id ?? '');
    const { device_id, creative_id } = event.device_id === undefined && first ? first : event;
    payments.push({ ...event, device_id, creative_id });
  }
  expect(payments.length).toBeGreaterThan(successful.length + 10);
  const expected = group(payments, ({ creative_id, currency }) => [creative_id, currency]);
  expect(expected.length).toBeGreaterThan(5);
  expect(await run('purchases')).toEqual(
    expected.map(({ key, items }) => [
      ...key,
      String(items.length),
      String(new Set(items.flatMap(({ device_id }) => device_id ?? [])).size),
      decimal(items.reduce((sum, { value_nanos }) => sum + value_nanos, 0)),
    ]),
  );
});

it('queries custom events by a parameter’s value', async () => {
  const expected = group(of('custom'), ({ event_name, params }) => [event_name, params?.result ?? null]);
  expect(expected.length).toBeGreaterThan(10);
  expect(await run('custom-events')).toEqual(
    expected.map(({ key, items }) => [
      ...key,
      String(items.length),
      expect.closeTo(items.reduce((sum, { params }) => sum + Number(params?.seconds), 0) / items.length, 9),
    ]),
  );
});

it('keeps amounts exact up to the largest', async () => {
  const [purchase] = of('custom.purchase');
  const bucket = new MemoryBucket();
  const large = { ...purchase, value_nanos: 1e18 - 128 } as StoredEvent;
  await writeFiles(bucket, { applicationId: APPLICATION_ID, shard: 0 }, [[large]]);
  const file = path.join(folder, 'large.parquet');
  await writeFile(file, [...bucket.objects.values()][0] ?? '');
  const result = await duckdb.runAndReadAll(`SELECT value FROM read_parquet('${file}')`);
  expect(result.getRowsJson()).toEqual([['999999999.999999872']]);
});

it('reads files of releases with fewer columns and other decimal places together', async () => {
  const older = path.join(folder, `events/application=${APPLICATION_ID}/day=2020-01-01`);
  await mkdir(older);
  await duckdb.run(
    `COPY (SELECT * EXCLUDE (media_source, application, day) REPLACE (1.5::DECIMAL(18,3) AS value)
      FROM events WHERE type = 'custom.ad') TO '${older}/older.parquet'`,
  );
  const rows = await run('ad-revenue');
  await rm(older, { recursive: true });
  const ads = of('custom.ad');
  const impressions = rows.reduce((sum, [, , , count]) => sum + Number(count), 0);
  const revenue = rows.reduce((sum, [, , , , value]) => sum + BigInt(String(value).replace('.', '')), 0n);
  const nanos = ads.reduce((sum, { value_nanos }) => sum + BigInt(value_nanos), 0n);
  expect([impressions, revenue]).toEqual([2 * ads.length, nanos + 1_500_000_000n * BigInt(ads.length)]);
});

it('adds up the cube to the figures of the reports', async () => {
  const rows = await run('creatives-by-country');
  expect(rows.length).toBeGreaterThan(10);
  const found = new Map<string, [number, number, string]>();
  for (const [creative, country, , installs, impressions, revenue] of rows) {
    const key = JSON.stringify([creative, country]);
    const known = found.get(key) ?? [0, 0, '0.000000000'];
    const whole = BigInt(known[2].replace('.', '')) + BigInt(String(revenue).replace('.', ''));
    const text = String(whole).padStart(10, '0');
    found.set(key, [
      known[0] + Number(installs),
      known[1] + Number(impressions),
      `${text.slice(0, -9)}.${text.slice(-9)}`,
    ]);
  }
  expect(found).toEqual(await cube.reported());
});

it('adds up cohorts whose devices were active in other months than that of their acquisition', async () => {
  const rows = await run('cohort-activity');
  expect(rows.map(([day, age, active]) => [day, Number(age), Number(active)])).toEqual(cube.activity);
});

it('finds nothing in the cube before its first month, instead of failing', async () => {
  const before = await mkdtemp(path.join(tmpdir(), 'lake-'));
  try {
    const written = new Map<string, Uint8Array>();
    const put = async (key: string, bytes: Uint8Array) => void written.set(key, bytes);
    await writeEmptyMonths({ put } as unknown as Pick<R2Bucket, 'put'>, APPLICATION_ID);
    for (const [key, bytes] of written) {
      await mkdir(path.dirname(path.join(before, key)), { recursive: true });
      await writeFile(path.join(before, key), bytes);
    }
    await cp(path.join(folder, 'names'), path.join(before, 'names'), { recursive: true });
    for (const name of ['creatives-by-country', 'cohort-activity', 'campaigns']) {
      expect(await run(name, before)).toEqual([]);
    }
  } finally {
    await rm(before, { recursive: true, force: true });
  }
});

it('names creatives, and adds up costs', async () => {
  const installs = [...(await cube.reported()).values()].reduce((sum, [own]) => sum + own, 0);
  expect(await run('campaigns')).toEqual([['Spring', 'Video', String(installs)]]);
  expect(await run('spend')).toEqual([
    ['2026-01', 'Spring', 'de', 'ios', 'meta', 'usd', '12.345678901', '7'],
    ['2026-03', 'Spring', '', '', '', 'usd', '0.000000001', null],
  ]);
});
