import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { loadParquet } from '#lib/encoding/parquet';
import { GRAINS } from '../../src/rollup/cube/grains.ts';
import { mergeMonth } from '../../src/rollup/months/merge-month.ts';
import { mergeMonths } from '../../src/rollup/months/merge-months.ts';
import { ObjectWriter } from '../../src/rollup/months/object-writer.ts';
import {
  addDays,
  count,
  DAILY,
  hotParts,
  MARCH,
  march,
  months,
  objects,
  read,
  withMarch,
} from '../helpers/march.ts';
import { slowIt } from '../helpers/thorough.ts';

const NOW = Date.UTC(2026, 4, 10);

slowIt('merges every rollup and grain of months that ended 27 days ago, and publishes them', async () => {
  const app = await withMarch();
  await mergeMonths(env, Date.UTC(2026, 3, 28));
  expect(await months(app)).toBe(0);
  await mergeMonths(env, Date.UTC(2026, 3, 29), { maxMerges: 1 });
  await mergeMonths(env, Date.UTC(2026, 3, 30));
  expect(await months(app)).toBe(GRAINS.length);
  expect(await objects(`cubes/${app}/`)).toEqual([`cubes/${app}/rollup_daily/2026-03.parquet`]);
  // April is in the database.
  expect(
    await count("SELECT count(*) AS n FROM cube_parts WHERE application_id = ? AND month = '2026-04'", app),
  ).toBe(4 * GRAINS.length);
  // Late events wait, unless they are as large as the month.
  await addDays(app, 60, [march(1)], 1);
  await mergeMonths(env, Date.UTC(2026, 4, 8));
  expect(await hotParts(app)).toBe(1);
  await mergeMonths(env, Date.UTC(2026, 5, 8));
  expect(await hotParts(app)).toBe(0);
  await addDays(app, 61, [march(1)], 1_500);
  await mergeMonths(env, Date.UTC(2026, 5, 9));
  expect(await hotParts(app)).toBe(0);
});

it('leaves a rollup that only a newer release knows in the database, and merges the others', async () => {
  const app = await withMarch();
  await env.DB.prepare(
    "UPDATE cube_parts SET rollup = 'rollup_later' WHERE application_id = ? AND grain = 'both'",
  )
    .bind(app)
    .run();
  await mergeMonths(env, NOW);
  expect(await months(app)).toBe(GRAINS.length - 1);
  expect(
    await count(
      "SELECT count(*) AS n FROM cube_parts WHERE application_id = ? AND rollup = 'rollup_later' AND replaced_at IS NULL",
      app,
    ),
  ).toBeGreaterThan(0);
});

slowIt('deletes parts ten minutes after they were merged, and versions after 35 days', async () => {
  const app = await withMarch();
  const place = { applicationId: app, ...MARCH };
  const parts = () =>
    count(
      "SELECT count(*) AS n FROM cube_parts WHERE application_id = ? AND grain = 'both' AND month = '2026-03'",
      app,
    );
  await mergeMonth(env, place, NOW);
  await mergeMonths(env, NOW + 600_000);
  expect(await parts()).toBe(4);
  await mergeMonths(env, NOW + 600_001);
  expect(await parts()).toBe(0);
  await env.RAW_EVENTS.put(
    `months/${app}/rollup_daily/both/2026-03-1-${crypto.randomUUID()}.parquet`,
    'never listed',
  );
  await addDays(app, 50, [march(2)]);
  await mergeMonth(env, place, NOW + 2);
  const kept = () => objects(`months/${app}/rollup_daily/both/2026-03`);
  expect(await kept()).toHaveLength(3);
  // Objects have the time of their upload.
  await addDays(app, 51, [march(2)], 900);
  await mergeMonths(env, Date.now() + 36 * 864e5);
  // The one in use and the one that it has just replaced.
  expect(await kept()).toHaveLength(2);
  await expect(read(app, DAILY)).resolves.not.toEqual([]);
});

it('merges what is large of a recent month too, without publishing it', async () => {
  const app = await withMarch();
  const before = await read(app, DAILY);
  const now = Date.UTC(2026, 3, 2);
  await mergeMonths(env, now);
  expect(await hotParts(app)).toBe(4);
  for (const [bytes, left] of [
    [499_999, 4],
    [500_000, 0],
  ] as const) {
    await env.DB.prepare("UPDATE cube_parts SET bytes = ?2 WHERE application_id = ?1 AND grain = 'both'")
      .bind(app, bytes)
      .run();
    await mergeMonths(env, now);
    expect(await hotParts(app)).toBe(left);
  }
  expect(await read(app, DAILY)).toEqual(before);
  expect(await objects(`cubes/${app}/`)).toEqual([]);
});

slowIt('merges again what is large by itself, however much the month has', async () => {
  const app = await withMarch();
  const now = Date.UTC(2026, 4, 8);
  await mergeMonths(env, now);
  await addDays(app, 60, [march(1)], 1);
  const added = await count(
    "SELECT bytes AS n FROM cube_parts WHERE application_id = ? AND grain = 'both' AND month = '2026-03' AND replaced_at IS NULL",
    app,
  );
  await mergeMonths(env, now, { mergedAtOnceBytes: (added ?? 0) + 1 });
  expect(await hotParts(app)).toBe(1);
  await mergeMonths(env, now, { mergedAtOnceBytes: added ?? 0 });
  expect(await hotParts(app)).toBe(0);
});

slowIt('uploads a large object in parts of one size', async () => {
  const object = new ObjectWriter(await loadParquet(), env.RAW_EVENTS, 'months/large');
  const expected: number[] = [];
  for (const size of [3_000_000, 9_000_000, 10, 4_000_000]) {
    const bytes = new Uint8Array(size).map((_, at) => (at * size) % 251);
    expected.push(...bytes.subarray(0, 5), ...bytes.subarray(-5));
    object.writer.appendBytes(bytes);
    await object.writer.flush?.();
  }
  object.writer.appendUint32(12);
  object.writer.appendUint32(0x31524150);
  expect(await object.finish()).toEqual({ bytes: 16_000_018, footerBytes: 20 });
  const stored = new Uint8Array(
    (await (await env.RAW_EVENTS.get('months/large'))?.arrayBuffer()) ?? new ArrayBuffer(0),
  );
  expect(stored).toHaveLength(16_000_018);
  const ends = [0, 3_000_000, 12_000_000, 12_000_010, 16_000_010].flatMap((end, at) => [
    ...(at > 0 ? stored.subarray(end - 5, end) : []),
    ...(at < 4 ? stored.subarray(end, end + 5) : []),
  ]);
  expect(ends).toEqual(expected);
});
