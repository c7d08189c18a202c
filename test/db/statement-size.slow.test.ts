import { env } from 'cloudflare:workers';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ROLLUP_KEYS, type RollupTable } from '#catalogue';
import { database, parkedMessages } from '#db';
import { loadParquet } from '#lib/encoding/parquet';
import { newId } from '#lib/ids';
import { type Parked, parkStatements, wholeBody } from '#rollup';
import { addParts, packParts } from '../../src/rollup/cube/cube.ts';
import { ROLLUP_TABLES, sumColumnsOf } from '../../src/rollup/tables.ts';
import { additionsOf, type SegmentedRow } from '../helpers/cube.ts';
import { dumpRows } from '../helpers/dump.ts';

// D1 imports no statement over 100,000 bytes, and an export has a statement per row: see `src/db/statement-size.ts`. The rows of these tables
// would be longer if nothing bounded them.

const bytesOf = (text: string) => new TextEncoder().encode(text).length;

/** Exports tables, checks the length of each statement, imports them again, and checks that no row has changed. */
async function expectRoundTrip(...tables: string[]): Promise<void> {
  const rowsOf = async (table: string) =>
    (await env.DB.prepare(`SELECT * FROM ${table}`).raw()).map((row) => JSON.stringify(row)).sort();
  for (const table of tables) {
    const rows = await rowsOf(table);
    const statements = await dumpRows(table);
    expect(statements).toHaveLength(rows.length);
    for (const statement of statements) expect(bytesOf(statement)).toBeLessThanOrEqual(100_000);
    await env.DB.prepare(`DELETE FROM ${table}`).run();
    if (rows.length > 0) await env.DB.batch(statements.map((statement) => env.DB.prepare(statement)));
    expect(await rowsOf(table)).toEqual(rows);
  }
}

/** What takes more bytes in a statement or in JSON than it has characters. */
const unit = fc.constantFrom('a', "'", '"', '\\', '\\n', 'é', '日', '😀', '\n', '\u001f');
/** A name of up to 256 characters, the most that clients may send. */
const longName = fc
  .tuple(unit, fc.nat(256))
  .map(([text, length]) => text.repeat(length).slice(0, length).toWellFormed());

const DAY = '2026-03-01';
const AGE = '7';
const textOf = (column: string) =>
  column.endsWith('day') ? fc.constant(DAY) : column === 'age' ? fc.constant(AGE) : longName;

const sum = fc.constantFrom(0, 1, 1_000, 2 ** 53 - 1, -1);

/** A row with many segments of the same sums. */
const rowOf = (table: RollupTable): fc.Arbitrary<SegmentedRow> => {
  const width = sumColumnsOf(table).length;
  return fc
    .record({
      key: fc.tuple(...ROLLUP_KEYS[table].map(textOf)),
      segments: fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 6_000 })),
      sums: fc.array(fc.array(sum, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 3 }),
    })
    .map(({ key, segments, sums }) => ({
      key,
      segments: Array.from({ length: segments }, (_, at) => [
        2 ** 47 + at,
        ...(sums[at % sums.length] ?? []),
      ]).flat(),
    }));
};

const tables = ROLLUP_TABLES;
const runs = fc
  .constantFrom(...tables)
  .chain((table) =>
    fc.tuple(fc.constant(table), fc.array(rowOf(table), { minLength: 1, maxLength: 12 }), fc.nat(3)),
  );

it('packs parts of the cube that fit into statements, whatever they have', async () => {
  await loadParquet();
  await fc.assert(
    fc.asyncProperty(runs, async ([table, rows, times]) => {
      // Parts of a few rows with many segments, and of many rows with other names.
      const all = rows.flatMap(({ key, segments }) =>
        Array.from({ length: 1 + times * 20 }, (_, copy) => ({
          key: key.map((name) => (name === DAY || name === AGE ? name : `${copy}${String(name).slice(4)}`)),
          segments: copy === 0 ? segments : segments.slice(0, sumColumnsOf(table).length + 1),
        })),
      );
      const source = { applicationId: newId('app'), shard: 63, sequence: 2 ** 31 };
      const segmentOf = (id: number) => ({
        ...{ country: 'other', os: 'windows', network: `${id}`.repeat(4) },
        app_version: `${id}${'"'.repeat(48)}`,
        sdk_version: `${id}${'"'.repeat(48)}`,
      });
      let number = 0;
      for (const part of packParts(additionsOf(table, all), 'both', segmentOf)) {
        await addParts(env.DB, source, [{ rollup: table, grain: 'both', number: number++, ...part }]).run();
        if (number === 10) break;
      }
      await expectRoundTrip('cube_parts');
      await env.DB.prepare('DELETE FROM cube_parts').run();
    }),
    { numRuns: 25 },
  );
});

// Every body is JSON.
const bodies = fc.array(
  fc
    .array(fc.tuple(unit, fc.integer({ min: 1, max: 50_000 })), { maxLength: 6 })
    .map((parts) => JSON.stringify({ v: 1, events: parts.map(([text, times]) => text.repeat(times)) })),
  { minLength: 1, maxLength: 4 },
);

it('parks messages in rows that fit into statements, and reads them whole', async () => {
  await fc.assert(
    fc.asyncProperty(bodies, unit, async (texts, reason) => {
      await env.DB.batch([
        env.DB.prepare('DELETE FROM parked_messages'),
        env.DB.prepare('DELETE FROM parked_chunks'),
      ]);
      const parked = texts.map((text): Parked => {
        return { id: newId('prk'), applicationId: newId('app'), body: text, reason: reason.repeat(70_000) };
      });
      // Once more, as when the answer of the first time was lost.
      for (let time = 0; time < 2; time++) await env.DB.batch(parkStatements(env.DB, parked, time));
      await expectRoundTrip('parked_messages', 'parked_chunks');
      const { id } = parkedMessages;
      const read = await database(env.DB).select({ id, body: wholeBody }).from(parkedMessages);
      expect(new Map(read.map((row) => [row.id, row.body]))).toEqual(
        new Map(parked.map((row) => [row.id, row.body])),
      );
    }),
    { numRuns: 15 },
  );
});
