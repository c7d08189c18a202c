import { describe, expect, it } from 'vitest';
import { packEvents } from '#counting';
import {
  type HistoryRow,
  readHistories,
  readRows,
  writeHistories,
} from '../../src/counting/devices/device-row.ts';
import { openStore } from '../../src/counting/store.ts';
import { WordColumns } from '../../src/counting/word-columns.ts';
import { eventOf, rollupOf, startCounter } from '../helpers/counter.ts';

// A counter's log and pages may have been written by another release: one with other columns, or the same ones in another order.

/** The same rows with other columns, of which unknown ones have any value. */
function reshape(bytes: Uint8Array, change: (names: string[]) => string[]): Uint8Array {
  const end = bytes.indexOf(10) + 1;
  const names = new TextDecoder().decode(bytes.subarray(0, end)).trim().split(' ');
  const words = new Uint32Array(bytes.slice(end).buffer);
  const next = change(names);
  const rows = Array.from({ length: words.length / names.length }, (_, row) =>
    next.map((name) => words[row * names.length + names.indexOf(name)] ?? 0xffff),
  );
  return new WordColumns(next).write(Uint32Array.from(rows.flat()));
}

const RELEASES: [string, (names: string[]) => string[]][] = [
  ['in another order', (names) => names.toReversed()],
  ['with an unknown one', (names) => [...names.slice(0, 1), 'of_a_later_release', ...names.slice(1)]],
  ['without the first', (names) => names.slice(1)],
  ['without the last', (names) => names.slice(0, -1)],
];

async function start() {
  const counter = startCounter();
  const created = await counter.createDevice();
  if (created.outcome === 'moved') throw new Error('a new counter has one shard');
  const ad = (key: string) =>
    eventOf(counter.applicationId, created.device, 'custom.ad', { keys: [`e:${key}`] });
  return { ...counter, ad };
}

describe.each(RELEASES)('the columns of keys and devices %s', (_, change) => {
  it('count the log as it was appended', async () => {
    const { append, inside, stub, ad, applicationId } = await start();
    await append([ad('one'), ad('two'), ad('one')]);
    await append([ad('two'), ad('three')]);
    const changed = await inside((_counter, { storage }) => {
      const rows = storage.sql
        .exec<{ batch: number; keys: ArrayBuffer; devices: ArrayBuffer }>(
          'SELECT batch, keys, devices FROM log',
        )
        .toArray();
      for (const { batch, keys, devices } of rows) {
        const [ownKeys, ownDevices] = [keys, devices].map((bytes) =>
          bytes.byteLength === 0 ? new Uint8Array() : reshape(new Uint8Array(bytes), change),
        );
        storage.sql.exec('UPDATE log SET keys = ?, devices = ? WHERE batch = ?', ownKeys, ownDevices, batch);
      }
      return rows.length;
    });
    expect(changed).toBe(3);
    await stub().settle();
    expect(await rollupOf(applicationId)).toMatchObject({ installs: 1, impressions: 3 });
    await append([ad('three'), ad('four')]);
    await stub().settle();
    expect(await rollupOf(applicationId)).toMatchObject({ impressions: 4 });
  });

  it('append what is new of a batch that was appended in part', async () => {
    const { stub, ad, applicationId } = await start();
    const events = [ad('one'), ad('two'), ad('three'), ad('two')];
    const batchOf = (from: number, to: number) => {
      const { rows, ...rest } = packEvents(applicationId, events.slice(from, to));
      return {
        ...rest,
        rows: rows.map((row) => ({
          ...row,
          keys: reshape(row.keys, change),
          devices: reshape(row.devices, change),
        })),
      };
    };
    expect(await stub().append(batchOf(0, 2))).toMatchObject({ appended: 2 });
    expect(await stub().append(batchOf(1, 4))).toMatchObject({ appended: 2 });
    await stub().settle();
    expect(await rollupOf(applicationId)).toMatchObject({ impressions: 3 });
  });
});

it('stores the names of the columns of words once per row of the log', async () => {
  const { append, inside, ad } = await start();
  await append([ad('one'), ad('two')]);
  const [keys, devices] = await inside((_, { storage }) => {
    openStore(storage);
    const row = storage.sql
      .exec<{ keys: ArrayBuffer; devices: ArrayBuffer }>('SELECT keys, devices FROM log ORDER BY batch DESC')
      .toArray()[0];
    return [row?.keys, row?.devices].map((bytes) => new TextDecoder('latin1').decode(bytes));
  });
  expect(keys?.split('\n')[0]?.trim()).toBe('event day hash_1 hash_2 hash_3 hash_4');
  expect(devices?.split('\n')[0]?.trim()).toBe('acquired_day hash_1 hash_2');
  expect(keys?.length).toBe(40 + 2 * 6 * 4);
});

describe('the histories of a page', () => {
  it('are read by the names of their columns', () => {
    const rows: HistoryRow[] = [
      [{ times: { install: [5] } }, { usd: { 0: { ad: 12_500 } } }],
      [null, null],
    ];
    expect(readHistories(writeHistories(rows))).toEqual(rows);
    const other = {
      columns: ['revenue', 'of_a_later_release', 'steps'],
      rows: rows.map(([s, r]) => [r, 'x', s]),
    };
    expect(readHistories(JSON.stringify(other))).toEqual(rows);
    const older = { columns: ['revenue'], rows: rows.map(([, revenue]) => [revenue]) };
    expect(readHistories(JSON.stringify(older))).toEqual(rows.map(([, revenue]) => [null, revenue]));
    expect(() => readRows('[]')).toThrow();
  });
});
