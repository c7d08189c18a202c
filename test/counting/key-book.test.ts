import { describe, expect, it } from 'vitest';
import { newId } from '#lib/ids';
import { KeyBook, keysIn, pruneKeys } from '../../src/counting/key-book.ts';
import { KEY_DAY } from '../../src/counting/pack.ts';
import { openStore, type Store } from '../../src/counting/store.ts';
import { startCounter } from '../helpers/counter.ts';
import { seededRandom } from '../helpers/random.ts';

const NOW = Date.parse('2026-03-20T12:00:00Z');
const DAY = 20_000;

const inStore = (work: (store: Store) => void) =>
  startCounter().inside((_, state) => work(openStore(state.storage)));

/** Keys of a row, one per event, with hashes that follow from their numbers. */
function row(keys: { day: number; number: number }[]): Uint8Array {
  const words = keys.flatMap(({ day, number }, index) => {
    const random = seededRandom(number);
    return [index, day, ...Array.from({ length: 4 }, () => Math.floor(random() * 2 ** 32) | 0)];
  });
  return new Uint8Array(Int32Array.from(words).buffer);
}

/** Takes each key in a run of its own for all of them; answers which were first. */
function take(store: Store, run: number, keys: { day: number; number: number }[], now = NOW): boolean[] {
  const packed = row(keys);
  const book = new KeyBook(store, [packed]);
  const firsts = [...keysIn(packed)].map((key) => book.take([key], newId('evt')));
  book.save(run, now);
  return firsts;
}

describe('keys', () => {
  it('are seen on their day and its neighbours, those of purchases and sessions on any', async () => {
    await inStore((store) => {
      expect(take(store, 1, [{ day: DAY, number: 1 }])).toEqual([true]);
      const near = [DAY - 2, DAY - 1, DAY, DAY + 1, DAY + 2].map((day) => ({ day, number: 1 }));
      for (const [index, key] of near.entries()) {
        const book = new KeyBook(store, [row([key])]);
        const [own] = keysIn(row([key]));
        expect([key.day, own && book.take([own], 'evt')]).toEqual([key.day, index === 0 || index === 4]);
      }
      for (const day of [KEY_DAY.purchase, KEY_DAY.session, KEY_DAY.any]) {
        expect(take(store, 2, [{ day, number: 7 }])).toEqual([true]);
        expect(take(store, 3, [{ day, number: 7 }])).toEqual([false]);
      }
    });
  });

  it('are all found again while their blocks grow and split, and no other is', async () => {
    await inStore((store) => {
      const perRun = 15_000;
      for (let run = 1; run <= 9; run++) {
        const fresh = Array.from({ length: perRun }, (_, index) => ({
          day: DAY,
          number: run * perRun + index,
        }));
        expect(take(store, run, fresh).every(Boolean)).toBe(true);
      }
      const old = Array.from({ length: 9 * perRun }, (_, index) => ({ day: DAY, number: perRun + index }));
      expect(take(store, 10, old).some(Boolean)).toBe(false);
      // A few at a time are looked for in their own blocks only.
      for (const key of old.filter((_, index) => index % 9_001 === 0)) {
        expect(take(store, 11, [key])).toEqual([false]);
      }
      expect(take(store, 12, [{ day: DAY, number: 5 }])).toEqual([true]);
    });
  });

  it('are forgotten by when they were taken, whatever their day; those of purchases later', async () => {
    await inStore((store) => {
      const week = 7 * 86_400_000;
      const purchase = { day: KEY_DAY.purchase, number: 1 };
      const old = { day: DAY - 3_000, number: 2 };
      take(store, 1, [purchase, old, { day: KEY_DAY.session, number: 3 }]);
      pruneKeys(store, NOW - week, NOW - 100 * week);
      expect(take(store, 2, [purchase, old, { day: KEY_DAY.session, number: 3 }])).toEqual([
        false,
        false,
        false,
      ]);
      pruneKeys(store, NOW + week, NOW - 100 * week);
      expect(take(store, 3, [purchase, old, { day: KEY_DAY.session, number: 3 }], NOW + week)).toEqual([
        false,
        true,
        true,
      ]);
      pruneKeys(store, NOW + week, NOW + week);
      expect(take(store, 4, [purchase, old], NOW + week)).toEqual([true, false]);
    });
  });
});
