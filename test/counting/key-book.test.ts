import { describe, expect, it } from 'vitest';
import { newId } from '#lib/ids';
import { murmur128 } from '#lib/murmur';
import { atOnce } from '#lib/steps';
import { hexOfHash } from '../../src/counting/keys/hashed-rows.ts';
import { KeyBook, pruneKeys } from '../../src/counting/keys/key-book.ts';
import { findPurchases } from '../../src/counting/keys/purchase-keys.ts';
import { KEY_DAY, KEY_WORDS } from '../../src/counting/pack.ts';
import { purchaseKeys } from '../../src/counting/schema.ts';
import { type ObjectStore, openStore } from '../../src/counting/store.ts';
import { startCounter } from '../helpers/counter.ts';
import { seededRandom } from '../helpers/random.ts';
import { slowIt } from '../helpers/thorough.ts';

const NOW = Date.parse('2026-03-20T12:00:00Z');
const DAY = 20_000;

const inStore = (work: (store: ObjectStore) => void) =>
  startCounter().inside((_, state) => work(openStore(state.storage)));

/** Keys of a row, one per event, with hashes that follow from their numbers. */
function row(keys: { day: number; number: number }[]): Uint32Array {
  const words = keys.flatMap(({ day, number }, index) => {
    const random = seededRandom(number);
    return [index, day, ...Array.from({ length: 4 }, () => Math.floor(random() * 2 ** 32) | 0)];
  });
  return Uint32Array.from(words);
}

const openBook = (store: ObjectStore, words: Uint32Array) => atOnce(KeyBook.open(store, [words]));

function save(book: KeyBook, run: number, now: number): void {
  book.save(run, now);
  atOnce(book.compact((work) => work()));
}

/** Takes each key in a run of its own for all of them; answers which were first. */
function take(
  store: ObjectStore,
  run: number,
  keys: { day: number; number: number }[],
  now = NOW,
): boolean[] {
  const words = row(keys);
  const book = openBook(store, words);
  const firsts = keys.map((_, index) => {
    const from = index * KEY_WORDS;
    return book.take({ words, from, to: from + KEY_WORDS }, newId('evt'));
  });
  save(book, run, now);
  return firsts;
}

describe('keys', () => {
  it('are recognised on their own and adjacent days, and those of purchases on any day', async () => {
    await inStore((store) => {
      expect(take(store, 1, [{ day: DAY, number: 1 }])).toEqual([true]);
      const near = [DAY - 2, DAY - 1, DAY, DAY + 1, DAY + 2].map((day) => ({ day, number: 1 }));
      for (const [index, key] of near.entries()) {
        const words = row([key]);
        const isFirst = openBook(store, words).take({ words, from: 0, to: KEY_WORDS }, 'evt');
        expect([key.day, isFirst]).toEqual([key.day, index === 0 || index === 4]);
      }
      for (const day of [KEY_DAY.purchase, KEY_DAY.any]) {
        expect(take(store, 2, [{ day, number: 7 }])).toEqual([true]);
        expect(take(store, 3, [{ day, number: 7 }])).toEqual([false]);
      }
    });
  });

  it('are looked for on adjacent days only, whatever other days a run has', async () => {
    await inStore((store) => {
      take(store, 1, [{ day: DAY, number: 1 }]);
      const keys = [
        { day: DAY + 1, number: 2 },
        { day: DAY + 2, number: 1 },
      ];
      expect(take(store, 2, keys)).toEqual([true, true]);
    });
  });

  it('of a repeated purchase lead to the one that was counted, and are stored once', async () => {
    await inStore((store) => {
      const words = row([1, 1, 2].map((number) => ({ day: KEY_DAY.purchase, number })));
      const book = openBook(store, words);
      const [first, repeat] = [newId('evt'), newId('evt')];
      expect(book.take({ words, from: 0, to: KEY_WORDS }, first)).toBe(true);
      save(book, 1, NOW);
      expect(book.take({ words, from: KEY_WORDS, to: 3 * KEY_WORDS }, repeat)).toBe(false);
      save(book, 2, NOW);
      save(book, 3, NOW);
      const hashes = [0, 2].map((index) => hexOfHash(words, index * KEY_WORDS + 2));
      const found = findPurchases(store, hashes);
      expect(new Map(found)).toEqual(new Map(hashes.map((hex) => [hex, first])));
      expect(store.select().from(purchaseKeys).all()).toHaveLength(2);
    });
  });

  slowIt('are all found while their blocks grow and split, and no others', async () => {
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

  it('are deleted by their time of arrival, whatever their day, and those of purchases later', async () => {
    await inStore((store) => {
      const week = 7 * 86_400_000;
      const keys = [
        { day: KEY_DAY.purchase, number: 1 },
        { day: DAY - 3_000, number: 2 },
      ];
      take(store, 1, keys);
      pruneKeys(store, NOW - week, NOW - 100 * week, NOW);
      expect(take(store, 2, keys)).toEqual([false, false]);
      pruneKeys(store, NOW + week, NOW - 100 * week, NOW);
      expect(take(store, 3, keys, NOW + week)).toEqual([false, true]);
      pruneKeys(store, NOW + week, NOW + week, NOW);
      expect(take(store, 4, keys, NOW + week)).toEqual([true, false]);
    });
  });

  slowIt(
    'of purchases lead to the purchase that was counted, however many there are, and are all deleted in the end',
    async () => {
      await inStore((store) => {
        const perRun = 11_000;
        const numbers = (run: number) => Array.from({ length: perRun }, (_, index) => run * perRun + index);
        const counted = new Map<string, string>();
        const later = NOW + 50 * 86_400_000;
        for (const [run, now] of [NOW, NOW, later, later, later].entries()) {
          const words = row(numbers(run).map((number) => ({ day: KEY_DAY.purchase, number })));
          const book = openBook(store, words);
          for (let at = 0; at < words.length; at += KEY_WORDS) {
            const id = newId('evt');
            counted.set(hexOfHash(words, at + 2), id);
            expect(book.take({ words, from: at, to: at + KEY_WORDS }, id)).toBe(true);
          }
          save(book, run, now);
        }
        expect(new Map(findPurchases(store, counted.keys()))).toEqual(counted);
        const [hex = '', id] = [...counted][perRun - 1] ?? [];
        expect([...findPurchases(store, [hex])]).toEqual([[hex, id]]);
        // A share of the hashes each day.
        pruneKeys(store, NOW, NOW + 86_400_000, later);
        const left = [...findPurchases(store, counted.keys())].length;
        expect(left).toBeGreaterThan(4.5 * perRun);
        expect(left).toBeLessThan(5 * perRun);
        for (let day = 1; day < 32; day++) pruneKeys(store, NOW, NOW + 86_400_000, later + day * 86_400_000);
        expect(new Map(findPurchases(store, counted.keys()))).toEqual(
          new Map([...counted].slice(2 * perRun)),
        );
        expect(take(store, 9, [{ day: KEY_DAY.purchase, number: 1 }], later)).toEqual([true]);
        for (let day = 1; day <= 32; day++)
          pruneKeys(store, NOW, later + 86_400_000, later + day * 86_400_000);
        expect([...findPurchases(store, counted.keys())]).toEqual([]);
        expect(store.select().from(purchaseKeys).all()).toEqual([]);
      });
    },
  );

  it('of sessions are distinguished by name', async () => {
    await inStore((store) => {
      const words = Uint32Array.from([0, KEY_DAY.session, ...murmur128('s:dev:1')]);
      const book = openBook(store, words);
      expect(book.hasSession('s:dev:1')).toBe(false);
      book.takeSession('s:dev:1');
      save(book, 1, NOW);
      expect(openBook(store, words).hasSession('s:dev:1')).toBe(true);
    });
  });
});
