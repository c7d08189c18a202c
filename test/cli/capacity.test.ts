import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeAll, describe, expect, it } from 'vitest';
import { MEASURES, type RollupTable } from '#catalogue';
import {
  DEFAULT_LOAD,
  databaseBytes,
  fullnessOf,
  fullOnDay,
  shardsOf,
} from '../../src/cli/capacity/compute.ts';
import { LIMITS } from '../../src/cli/capacity/limits.ts';
import measured from '../../src/cli/capacity/measured.json' with { type: 'json' };
import { capacityTable, describeCapacity } from '../../src/cli/capacity/show.ts';
import { readMigrations } from '../../src/cli/local-migrations.ts';
import { ROOT } from '../../src/cli/local-state.ts';
import { grainsOf } from '../../src/rollup/cube/grains.ts';

const total = (load = DEFAULT_LOAD, days?: number) =>
  Object.values(databaseBytes(load, days)).reduce((sum, one) => sum + one, 0);
const shareOf = (name: keyof typeof LIMITS, more: Partial<typeof DEFAULT_LOAD>) =>
  fullnessOf({ ...DEFAULT_LOAD, ...more }).find((one) => one.name === name)?.share ?? 0;

describe('the capacity', () => {
  it('has a source and a remedy for each limit, and the fullest first', () => {
    const all = fullnessOf(DEFAULT_LOAD);
    expect(all.map(({ name }) => name).sort()).toEqual(Object.keys(LIMITS).sort());
    for (const { source, remedy } of Object.values(LIMITS)) expect([source, remedy]).not.toContain('');
    const shares = all.map(({ share }) => share);
    expect(shares).toEqual(shares.toSorted((one, other) => other - one));
  });

  it.each([
    ['queue_messages', { batch: 1 }, { batch: 500 }],
    ['queue_messages', { queues: 1 }, { queues: 3 }],
    ['application_requests', { applications: 1 }, { applications: 3 }],
    ['database_bytes', { clicksPerInstall: 5 }, { clicksPerInstall: 1 }],
    ['crons', { orgs: 10 }, { orgs: 1 }],
  ] as const)('fills %s less with %o than with %o', (name, more, less) => {
    expect(shareOf(name, more)).toBeGreaterThan(shareOf(name, less));
  });

  it('is full where a queue takes 5,000 messages a second', () => {
    const full = { eventsPerDay: 5_000 * 86_400, clicksPerInstall: 0, eventsPerInstall: 1e12 };
    expect(shareOf('queue_messages', full)).toBeCloseTo(1, 5);
    expect(shareOf('queue_messages', { ...full, queues: 2 })).toBeCloseTo(0.5, 5);
  });

  it('counts with the shards that counters request', () => {
    expect(shardsOf({ ...DEFAULT_LOAD, eventsPerDay: 1e6 })).toBe(1);
    expect(shardsOf({ ...DEFAULT_LOAD, eventsPerDay: 1e9 })).toBe(64);
    expect(shardsOf({ ...DEFAULT_LOAD, eventsPerDay: 1e6, applications: 10 })).toBe(1);
  });

  it('names the first that breaks, and what to do', () => {
    const text = describeCapacity({ ...DEFAULT_LOAD, eventsPerDay: 1e9, applications: 3 });
    expect(text).toContain('queue_messages does not fit: send batches, or set EVENT_QUEUES');
    expect(text).toMatch(/database_bytes does not fit: .*\n/);
    expect(text).toContain('It is full on day 2.');
    expect(describeCapacity({ ...DEFAULT_LOAD, eventsPerDay: 1e6, batch: 100 })).toContain(
      'Everything fits. First to break: ',
    );
  });

  it('is the table of the documentation', async () => {
    const text = await readFile(path.join(ROOT, 'docs/performance.md'), 'utf8');
    expect(text).toContain(`\n${capacityTable()}\n`);
  });
});

it('has the price in the README that the table of measurements has', async () => {
  const [readme, table] = await Promise.all(
    ['README.md', 'docs/performance.md'].map((file) => readFile(path.join(ROOT, file), 'utf8')),
  );
  const [, single, batch] =
    /dollars per million, everything: one event per message, 500 per request \| ([\d.]+), ([\d.]+) \|/.exec(
      table ?? '',
    ) ?? [];
  expect(Number(single)).toBeGreaterThan(0);
  expect(readme).toContain(`| $${batch} in batches, $${single} one by one, to Cloudflare |`);
});

describe('the database after a year', () => {
  it.each([
    [10e6, 1e9],
    [100e6, 8e9],
  ])('with %d events a day takes at most %d bytes, with every table', (eventsPerDay, most) => {
    const load = { ...DEFAULT_LOAD, eventsPerDay };
    expect(total(load)).toBeLessThanOrEqual(most);
    expect(fullOnDay(load)).toBeNull();
    for (const size of Object.values(databaseBytes(load))) expect(size).toBeGreaterThan(0);
  });

  it('does not grow with devices, purchases or campaigns for ever', () => {
    const { rollups: _, ...year } = databaseBytes(DEFAULT_LOAD);
    expect(databaseBytes(DEFAULT_LOAD, 3_650)).toMatchObject(year);
  });

  it.each([
    ['tokens', 14],
    ['clicks', 7],
    ['store_notifications', 32],
    ['skan_postbacks', 180],
  ])('has %s of %d days', (table, days) => {
    const of = (day: number) => databaseBytes(DEFAULT_LOAD, day)[table] ?? 0;
    expect(of(days) / of(1)).toBeCloseTo(days, 5);
    expect(of(days + 1)).toBe(of(days));
  });

  it('has all rollups and grains of the cube', () => {
    const places = (Object.keys(MEASURES) as RollupTable[]).flatMap((rollup) => grainsOf(rollup));
    expect(measured.cubePlaces).toBe(places.length);
  });

  it('is full on the day on which it has 10 GB', () => {
    const load = { ...DEFAULT_LOAD, eventsPerDay: 100e6, postbacksPerInstall: 0.5 };
    const day = fullOnDay(load) ?? 0;
    expect([total(load, day - 1) <= 10e9, total(load, day) > 10e9]).toEqual([true, true]);
  });
});

describe('the bytes of a row, with its indexes', () => {
  const ROWS = 5_000;
  const stored = new DatabaseSync(':memory:');
  let at = Date.UTC(2026, 0, 1);
  const id = (prefix: string) => {
    at += 100;
    return `${prefix}_${at.toString(16).padStart(12, '0')}${randomBytes(10).toString('hex')}`;
  };
  const app = id('app');
  const creative = id('crt');
  const hex = (bytes: number) => randomBytes(bytes).toString('hex');
  /** As they are on average: one click of seven still has its address. */
  const rows: Record<
    keyof typeof measured.bytesPerRow,
    (index: number) => Record<string, string | number | null>
  > = {
    tokens: () => ({
      id: id('tok'),
      application_id: app,
      device_id: id('dev'),
      created_at: at,
      expires_at: at,
    }),
    clicks: (index) => ({
      ...{ application_id: app, id: id('clk'), creative_id: creative, clicked_at: at },
      ...{ os_family: 'android', os_version: '14', device_model: 'SM-S911B', country: 'de', network: 'meta' },
      ip_hash: index % 7 ? null : hex(16),
      ...{ timezone: 'Europe/Berlin', screen_width: 390, screen_height: 844, pixel_ratio: 3 },
      params: JSON.stringify({ fbclid: randomBytes(40).toString('base64url'), campaign_id: '1234567890' }),
    }),
    store_notifications: () => ({
      ...{ application_id: app, store: 'apple', notification_id: crypto.randomUUID(), type: 'DID_RENEW' },
      ...{
        kind: 'renewal',
        environment: 'production',
        event_id: id('evt'),
        transaction_id: '2000000001234567',
      },
      ...{ content_hash: hex(32), received_at: at, shard: 0 },
    }),
    skan_postbacks: () => ({
      ...{
        transaction_id: crypto.randomUUID(),
        sequence: 0,
        test: 0,
        application_id: app,
        app_id: '525463029',
      },
      ...{
        framework: 'skadnetwork',
        version: '4.0',
        network: 'abcdefgh12.skadnetwork',
        source_identifier: '1234',
      },
      ...{
        source_app: '1234567890',
        fidelity: 1,
        conversion: 'download',
        did_win: 1,
        fine: 12,
        received_at: at,
      },
      day: '2026-01-01',
    }),
  };

  beforeAll(async () => {
    for (const { statements } of await readMigrations()) for (const text of statements) stored.exec(text);
  });

  it.each(Object.entries(rows))('of %s is what the capacity is computed from', (table, rowOf) => {
    const pages = () => Number(stored.prepare('PRAGMA page_count').get()?.page_count);
    const before = pages();
    const columns = Object.keys(rowOf(0));
    const insert = stored.prepare(
      `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
    );
    stored.exec('BEGIN');
    for (let index = 0; index < ROWS; index++) insert.run(...Object.values(rowOf(index)));
    stored.exec('COMMIT');
    const perRow = ((pages() - before) * 4096) / ROWS;
    const used = measured.bytesPerRow[table as keyof typeof rows];
    expect(perRow / used, `${perRow} bytes`).toBeGreaterThan(0.9);
    expect(perRow / used, `${perRow} bytes`).toBeLessThan(1.1);
  });
});
