import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addLaunch, type Teller } from '../../src/rollup/device/launches.ts';

type Told = { day: number; teller: Teller };

/** How many launches are new, with what is stored carried over from one to the next. */
function count(told: readonly Told[], stored = ''): { isNew: number; launches: string } {
  let [launches, isNew] = [stored, 0];
  for (const { day, teller } of told) {
    const added = addLaunch(launches, day, teller);
    launches = added.launches;
    if (added.isNew) isNew++;
  }
  return { isNew, launches };
}

const tellers = fc.constantFrom<Teller>('session', 'return');

describe('addLaunch', () => {
  it('counts, in any order and in any parts, as many a day as the kind that told more', () => {
    const told = fc.array(fc.record({ day: fc.integer({ min: -2, max: 4 }), teller: tellers }), {
      maxLength: 40,
    });
    return fc.assert(
      fc.property(told, fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })), (all, random) => {
        const days = Map.groupBy(all, ({ day }) => day);
        const expected = [...days.values()].map((own) => {
          const sessions = own.filter(({ teller }) => teller === 'session').length;
          return Math.max(sessions, own.length - sessions);
        });
        const total = expected.reduce((sum, one) => sum + one, 0);
        expect(count(all).isNew).toBe(total);
        const shuffled = all
          .map((one) => ({ one, at: Number(random.next().value) }))
          .sort((left, right) => left.at - right.at)
          .map(({ one }) => one);
        expect(count(shuffled)).toEqual({ isNew: total, launches: count(all).launches });
        const half = count(shuffled.slice(0, 7));
        expect(half.isNew + count(shuffled.slice(7), half.launches).isNew).toBe(total);
      }),
    );
  });

  it('stores nothing of days whose launches both kinds told', () => {
    expect(
      count([
        { day: 3, teller: 'return' },
        { day: 3, teller: 'session' },
      ]).launches,
    ).toBe('');
  });

  it('keeps the last seven days, so that its size does not grow with the age of a device', () => {
    const told = Array.from({ length: 400 }, (_, day): Told => ({ day, teller: 'return' }));
    expect(count(told).launches).toBe('393:1,394:1,395:1,396:1,397:1,398:1,399:1');
    const late: Told = { day: 2, teller: 'session' };
    expect(addLaunch(count(told).launches, late.day, late.teller)).toEqual({
      launches: count(told).launches,
      isNew: true,
    });
  });

  it.each(['x', '1', '1:', 'a:b', '1:2:3,', '1.5:1'])('refuses %j', (stored) => {
    expect(() => addLaunch(stored, 0, 'return')).toThrow('cannot be parsed');
  });
});
