import fc from 'fast-check';
import { expect, it } from 'vitest';
import { newId } from '#lib/ids';
import { DAY_MS } from '#lib/time';
import type { TransactionStep } from '#rollup';
import { pruneKeys } from '../../src/counting/keys/key-book.ts';
import { TransactionBook } from '../../src/counting/keys/transaction-book.ts';
import { transactions } from '../../src/counting/schema.ts';
import { type ObjectStore, openStore } from '../../src/counting/store.ts';
import { eventOf, newDevice, startCounter } from '../helpers/counter.ts';
import { slowIt } from '../helpers/thorough.ts';

const NOW = Date.parse('2026-03-20T12:00:00Z');

const inStore = (work: (store: ObjectStore) => void) =>
  startCounter().inside((_, state) => work(openStore(state.storage)));

const stepOf = (more: Partial<TransactionStep> = {}): TransactionStep => ({
  ...{ is: 'purchase', eventId: newId('evt'), nanos: 10_000_000_000, currency: 'usd', second: 1_772_445_600 },
  ...{
    day: '2026-03-02',
    deviceId: '',
    acquiredDay: '2026-03-01',
    creativeId: '',
    segments: { event: 0, cohort: 0 },
  },
  ...more,
});

const refundOf = (id: string) =>
  eventOf(newId('app'), newDevice(), 'custom.purchase', { status: 'refunded', tr_id: id });

/** Adds steps by transaction in a run of their own. */
function add(store: ObjectStore, now: number, steps: Iterable<readonly [string, TransactionStep]>) {
  const book = new TransactionBook(store, now);
  for (const [id, step] of steps) book.add(id, step);
  book.save();
}

/** The stored steps of transactions, by transaction: those without any are left out. */
function stepsOf(store: ObjectStore, ids: readonly string[]): Map<string, readonly TransactionStep[]> {
  const book = new TransactionBook(store, NOW);
  book.load(ids.map(refundOf));
  return new Map(ids.map((id) => [id, book.stepsOf(id)] as const).filter(([, steps]) => steps.length > 0));
}

/** Deletes what was stored before a time, as the days after `now` do. */
function prune(store: ObjectStore, before: number, now: number) {
  for (let day = 0; day < 32; day++) pruneKeys(store, before, before, now + day * DAY_MS);
}

slowIt(
  'finds the steps of transactions, however many there are, and deletes them by the time of storing',
  async () => {
    await inStore((store) => {
      const perRun = 4_500;
      const later = NOW + 50 * DAY_MS;
      const stored = new Map<string, readonly TransactionStep[]>();
      for (const [run, now] of [NOW, later, later].entries()) {
        const own = Array.from({ length: perRun }, (_, index) => {
          const step = stepOf({
            nanos: run * perRun + index,
            creativeId: index % 2 === 0 ? newId('crt') : '',
          });
          return [`tr_${run}_${index}`, step] as const;
        });
        for (const [id, step] of own) stored.set(id, [step]);
        add(store, now, own);
      }
      const ids = [...stored.keys()];
      expect(stepsOf(store, ids)).toEqual(stored);
      expect(stepsOf(store, ids.slice(0, 1))).toEqual(new Map([...stored].slice(0, 1)));
      expect(stepsOf(store, ['tr_unknown'])).toEqual(new Map());
      prune(store, NOW + DAY_MS, later);
      expect(stepsOf(store, ids)).toEqual(new Map([...stored].slice(perRun)));
      prune(store, later + DAY_MS, later + DAY_MS);
      expect(stepsOf(store, ids)).toEqual(new Map());
      expect(store.select().from(transactions).all()).toEqual([]);
    });
  },
);

slowIt('adds steps to those of the same transactions that are stored', async () => {
  await inStore((store) => {
    const perRun = 8_192;
    const ids = Array.from({ length: perRun }, (_, index) => `tr_${index}`);
    const [purchases, refunds] = [ids, ids].map((own, round) =>
      own.map((id) => [id, stepOf({ is: round === 0 ? 'purchase' : 'refund', second: round })] as const),
    ) as [(readonly [string, TransactionStep])[], (readonly [string, TransactionStep])[]];
    add(store, NOW, purchases);
    const book = new TransactionBook(store, NOW);
    book.load(ids.map(refundOf));
    for (const [id, step] of refunds) book.add(id, step);
    book.save();
    expect(stepsOf(store, ids)).toEqual(
      new Map(purchases.map(([id, step], index) => [id, [step, refunds[index]?.[1]]])),
    );
  });
});

it('keeps refunds that waited for as long as their purchase', async () => {
  await inStore((store) => {
    const [refund, purchase] = [stepOf({ is: 'refund' }), stepOf()];
    add(store, NOW, [['tr_1', refund]]);
    const later = NOW + 50 * DAY_MS;
    const book = new TransactionBook(store, later);
    const event = refundOf('tr_1');
    book.load([{ ...event, status: 'completed' } as typeof event]);
    book.add('tr_1', purchase);
    book.save();
    prune(store, NOW + DAY_MS, later);
    expect(new Set(stepsOf(store, ['tr_1']).get('tr_1'))).toEqual(new Set([purchase, refund]));
  });
});

it('stores every step as it is', async () => {
  const day = fc
    .integer({ min: 0, max: 60_000 })
    .map((days) => new Date(days * DAY_MS).toISOString().slice(0, 10));
  const segment = fc.integer({ min: 0, max: 2 ** 48 - 1 });
  const step = fc.record({
    is: fc.constantFrom(...(['purchase', 'refund', 'reversal', 'payment', 'trial'] as const)),
    nanos: fc.oneof(
      fc.integer({ min: 0, max: 1e9 }),
      fc.maxSafeInteger().map(Math.abs),
      fc.constant(999_999_999e9),
    ),
    currency: fc.constantFrom('usd', 'eur', 'vnd'),
    second: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
    day,
    acquiredDay: fc.oneof(day, fc.constant('')),
    creativeId: fc.boolean().map((isPaid) => (isPaid ? newId('crt') : '')),
    segments: fc.record({ event: segment, cohort: segment }),
  });
  await inStore((store) => {
    let run = 0;
    fc.assert(
      fc.property(step, (own) => {
        run++;
        const stored = stepOf(own);
        add(store, NOW, [[`tr_${run}`, stored]]);
        expect(stepsOf(store, [`tr_${run}`]).get(`tr_${run}`)).toEqual([stored]);
      }),
      { numRuns: 100 },
    );
  });
});
