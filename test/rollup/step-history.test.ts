import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  MAX_FUNNEL_LENGTH,
  MAX_FUNNEL_STEPS,
  readTimeline,
  type StoredSteps,
} from '../../src/rollup/device/step-format.ts';
import { StepHistory } from '../../src/rollup/device/step-history.ts';
import { firstTimes, walkSteps } from '../../src/rollup/device/step-walk.ts';

type Step = [name: string, second: number];

const read = (text: string): StoredSteps => JSON.parse(text);
const parsed = (text: string) => StepHistory.read(read(text));
const firsts = (text: string) => firstTimes(read(text));
const walkOf = (text: string, steps: readonly string[], windowSeconds: number | null) =>
  walkSteps(read(text), steps, windowSeconds);

/** What is stored, as text: it may not refer to anything that changes. */
function historyOf(steps: readonly Step[], stored = 'null'): string {
  let text = stored;
  // Stored and read again after every few events, as runs do.
  for (let start = 0; start < steps.length; start += 7) {
    const history = parsed(text);
    for (const [name, second] of steps.slice(start, start + 7)) history.add(name, second);
    text = JSON.stringify(history.toStored());
  }
  return text;
}

/** The walk through raw events, which knows nothing of histories. */
function walkNaively(events: readonly Step[], steps: readonly string[], window: number | null): number[] {
  const sorted = events.toSorted(([, left], [, right]) => left - right);
  const times: number[] = [];
  const taken = new Set<Step>();
  for (const step of steps) {
    const previous = times.at(-1) ?? 0;
    const found = sorted.find((event) => event[0] === step && event[1] >= previous - 1 && !taken.has(event));
    if (!found || found[1] > (times[0] ?? found[1]) + (window ?? Number.POSITIVE_INFINITY)) break;
    taken.add(found);
    times.push(Math.max(found[1], previous));
  }
  return times.map((time, index) => (index === 0 ? 0 : time - (times[index - 1] ?? 0)));
}

const NAMES = ['install', 'ad', 'purchase', 'retention', 'event:a', 'event:b'];
const funnelSteps = fc.shuffledSubarray(NAMES, { minLength: 1 });
const windows = fc.option(fc.integer({ min: 1, max: 3_000 }));
const stepsBy = (max: number, length: number) =>
  fc.array(fc.tuple(fc.constantFrom(...NAMES), fc.integer({ min: 0, max })), { maxLength: length });

describe('the history of a device', () => {
  it('takes a different event for each repetition of a step', () => {
    const repeated = fc.array(fc.constantFrom('install', 'ad', 'purchase'), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(stepsBy(40, 128), repeated, windows, (events, steps, window) => {
        expect(walkOf(historyOf(events), steps, window)).toEqual({
          seconds: walkNaively(events, steps, window),
          isComplete: true,
        });
      }),
      { numRuns: 500 },
    );
    const two: Step[] = [
      ['purchase', 10],
      ['purchase', 70],
    ];
    expect(walkOf(historyOf(two), ['purchase', 'purchase'], null).seconds).toEqual([0, 60]);
    expect(walkOf(historyOf(two), ['purchase', 'purchase', 'purchase'], null).seconds).toEqual([0, 60]);
  });

  it('says that repetitions of a step may be missing from a shortened history', () => {
    const ads = Array.from({ length: 300 }, (_, index): Step => ['ad', 10 * index]);
    const walk = walkOf(historyOf(ads), ['ad', 'ad'], null);
    expect(walk.isComplete).toBe(false);
    expect(walk.seconds).toHaveLength(2);
    expect(walkOf(historyOf(ads.slice(0, 100)), ['ad', 'ad'], null)).toEqual({
      seconds: [0, 10],
      isComplete: true,
    });
    const later = walkOf(historyOf([...ads, ['purchase', 5_000]]), ['ad', 'purchase'], null);
    expect(later).toEqual({ seconds: [0, 5_000], isComplete: true });
  });

  it('returns the funnels of its raw events, whatever the order and repetitions of steps', () => {
    fc.assert(
      fc.property(stepsBy(500, 128), funnelSteps, windows, (events, steps, window) => {
        expect(walkOf(historyOf(events), steps, window)).toEqual({
          seconds: walkNaively(events, steps, window),
          isComplete: true,
        });
      }),
      { numRuns: 500 },
    );
  });

  it('still knows what it lost of a long series after a later event of it was taken out too', () => {
    const others = (from: number, count: number): Step[] =>
      Array.from({ length: count }, (_, index) => [index % 2 === 0 ? 'retention' : 'event:a', from + index]);
    const ads = Array.from({ length: 97 }, (_, index): Step => ['ad', 10 * (index + 1)]);
    // Both times, only ads are repeats: up to second 970, and then, of those that came late, up to second 505.
    const thinned = historyOf([...ads, ...others(2_000, 32), ['ad', 505], ...others(3_000, 95)]);
    const funnel = ['ad', 'purchase', 'ad'];
    const { isComplete } = walkOf(historyOf([['purchase', 805]], thinned), funnel, 1_500);
    expect(isComplete).toBe(false);
  });

  it('loses nothing from a long series of repeats that arrive in order', () => {
    const mostlyAds = fc.array(
      fc.tuple(
        fc.constantFrom(...NAMES, ...Array.from({ length: 24 }, () => 'ad')),
        fc.integer({ min: 0, max: 5 }),
      ),
      { minLength: 200, maxLength: 400 },
    );
    fc.assert(
      fc.property(mostlyAds, funnelSteps, windows, (gaps, steps, window) => {
        let second = 0;
        const events = gaps.map(([name, gap]): Step => {
          second += gap;
          return [name, second];
        });
        const { seconds, isComplete } = walkOf(historyOf(events), steps, window);
        const expected = walkNaively(events, steps, window);
        if (isComplete) expect(seconds).toEqual(expected);
        else expect(expected.slice(0, seconds.length)).toEqual(seconds);
      }),
      { numRuns: 200 },
    );
    const ads = Array.from({ length: 5_000 }, (_, index): Step => ['ad', 10 * index]);
    const text = historyOf([['install', 0], ...ads, ['purchase', 50_001], ['ad', 50_007]]);
    expect(walkOf(text, ['install', 'purchase', 'ad'], null)).toEqual({
      seconds: [0, 50_001, 6],
      isComplete: true,
    });
    expect(text.length).toBeLessThan(500);
  });

  it('never returns a wrong step from a shortened history, but marks it as incomplete', () => {
    fc.assert(
      fc.property(stepsBy(3_000, 700), funnelSteps, windows, (events, steps, window) => {
        const text = historyOf(events);
        const { seconds, isComplete } = walkOf(text, steps, window);
        const expected = walkNaively(events, steps, window);
        expect(seconds).toEqual(isComplete ? expected : expected.slice(0, seconds.length));
        expect(text.length).toBeLessThan(1_000);
      }),
      { numRuns: 300 },
    );
  });

  it('is right or incomplete, whatever arrives late in a series from which repeats were removed', () => {
    const few = ['ad', 'purchase', 'event:a'];
    const series = fc.array(
      fc.tuple(fc.constantFrom(...few, ...Array.from({ length: 30 }, () => 'ad')), fc.nat(3)),
      { minLength: 180, maxLength: 260 },
    );
    const late = fc.array(fc.tuple(fc.constantFrom(...few), fc.nat(400)), { minLength: 1, maxLength: 6 });
    const funnels = fc.array(fc.constantFrom(...few), { minLength: 2, maxLength: 4 });
    fc.assert(
      fc.property(series, late, funnels, windows, (gaps, afterwards, steps, window) => {
        let second = 0;
        const events = gaps.map(([name, gap]): Step => {
          second += gap;
          return [name, second];
        });
        const all = [...events, ...afterwards];
        const { seconds, isComplete } = walkOf(historyOf(all), steps, window);
        const expected = walkNaively(all, steps, window);
        // Of an incomplete walk, a repetition may be a later one.
        const known = steps.findIndex((step, index) => steps.indexOf(step) < index);
        const reached = known < 0 ? seconds : seconds.slice(0, known);
        if (isComplete) expect(seconds).toEqual(expected);
        else expect(reached).toEqual(expected.slice(0, reached.length));
      }),
      { numRuns: 2_000 },
    );
  });

  it('marks a late event as incomplete if it may follow removed repeats', () => {
    const ads = Array.from({ length: 400 }, (_, index): Step => ['ad', 10 * index]);
    const text = historyOf([['install', 0], ...ads, ['purchase', 1_005]]);
    expect(walkOf(text, ['install', 'purchase'], null)).toEqual({ seconds: [0, 1_005], isComplete: true });
    // The ad at 1,010 was one of a run of repeats when the purchase arrived.
    expect(walkOf(text, ['purchase', 'ad'], null)).toEqual({ seconds: [0], isComplete: false });
  });

  it('keeps the first times of all steps when it is shortened, and marks later ones as unknown', () => {
    const events = Array.from(
      { length: 400 },
      (_, index): Step => [index % 2 ? 'event:a' : 'event:b', 10 * index],
    );
    const text = historyOf([['install', 0], ...events, ['purchase', 9_000]]);
    expect(firsts(text)).toEqual({ install: 0, 'event:b': 0, 'event:a': 10_000, purchase: 9_000_000 });
    expect(walkOf(text, ['install', 'purchase'], null)).toEqual({ seconds: [0, 9_000], isComplete: true });
    expect(walkOf(text, ['purchase', 'event:a'], null)).toEqual({ seconds: [0], isComplete: false });
    // What did happen nowhere is known not to have happened, and so is what would be too late.
    expect(walkOf(text, ['purchase', 'retention'], null)).toEqual({ seconds: [0], isComplete: true });
    expect(walkOf(historyOf([...events, ['ad', 1]]), ['ad', 'event:a'], 5)).toEqual({
      seconds: [0],
      isComplete: true,
    });
  });

  describe('stored by another release', () => {
    const events: Step[] = [
      ['install', 5],
      ['event:a', 20],
      ['ad', 30],
    ];
    const walked = (text: string) => walkOf(text, ['install', 'event:a', 'ad'], null);

    it('is read by the names of its steps and fields, in any order, without unknown ones', () => {
      const stored: Record<string, unknown> = JSON.parse(historyOf(events));
      expect(stored).toEqual({ times: { install: [5], 'event:a': [20], ad: [30] } });
      const other = JSON.stringify({
        of_a_later_release: [1],
        times: { ad: [30], of_a_later_release: [25], install: [5], 'event:a': [20] },
      });
      expect(walked(other)).toEqual(walked(historyOf(events)));
      expect(firsts(other)).toEqual({ ...firsts(historyOf(events)), of_a_later_release: 25_000 });
      expect(walkOf(historyOf([['purchase', 50]], other), ['ad', 'purchase'], null).seconds).toEqual([0, 20]);
    });

    it('is complete without the fields that it lacks', () => {
      expect(walked('{"times":{"install":[5]}}')).toEqual({ seconds: [0], isComplete: true });
      expect(walked('{}')).toEqual(walked('null'));
    });

    it.each(['[]', '["A5"]', '5', '"A5"', '{"times":{"install":5}}'])(
      'is refused if it is no history: %s',
      (text) => {
        expect(() => parsed(text)).toThrow();
      },
    );
  });

  it('keeps a bounded number of names, and marks the others as unknown', () => {
    const names = Array.from({ length: 300 }, (_, index): Step => [`event:${index}`, 1_000 + index]);
    const text = historyOf([['install', 5], ...names]);
    expect(Object.keys(firsts(text))).toHaveLength(MAX_FUNNEL_STEPS - 3);
    expect(walkOf(text, ['install', 'event:195'], null)).toEqual({
      seconds: [0, 1_190],
      isComplete: true,
    });
    expect(walkOf(text, ['install', 'event:196'], null)).toEqual({ seconds: [0], isComplete: false });
  });

  describe('at its edges', () => {
    /** Alternating steps, ten seconds apart, which no shortening can take out. */
    const alternating = (count: number) =>
      Array.from({ length: count }, (_, index): Step => [index % 2 ? 'event:a' : 'event:b', 10 * index]);

    /** Whether a history knows every step through this second, so that a repeat there changes it. */
    const knows = (text: string, second: number) => parsed(text).add('event:b', second);

    it('keeps all of 128 steps, and 96 of 129', () => {
      expect(knows(historyOf(alternating(128)), 99_999)).toBe(true);
      // The first that is cut is at 960.
      const shortened = historyOf(alternating(129));
      expect(knows(shortened, 959)).toBe(true);
      expect(knows(shortened, 960)).toBe(false);
    });

    it.each([
      [63, 35, true],
      [64, 34, false],
    ])('cuts nothing if %i steps, %i repeats and 31 steps leave 96', (before, repeats, isKept) => {
      const after = 10 * (before + repeats);
      const ads = Array.from({ length: repeats }, (_, index): Step => ['ad', 10 * (before + index)]);
      const last = alternating(31).map(([name, second]): Step => [name, second + after]);
      expect(knows(historyOf([...alternating(before), ...ads, ...last]), 99_999)).toBe(isKept);
    });

    it('marks a name without room as unknown from its own second on', () => {
      const room = MAX_FUNNEL_STEPS - 4;
      const names = Array.from({ length: room }, (_, index): Step => [`event:${index}`, 10]);
      // More than are kept, so the history is complete through the second before.
      const history = parsed(historyOf(names));
      expect(history.add('event:more', 10)).toBe(false);
      expect(history.add('event:more', 9)).toBe(true);
      expect(history.add('event:more', 9)).toBe(false);
      expect(history.add('event:0', 8)).toBe(true);
    });

    it('keeps the step of the last second that it knows', () => {
      const steps = Array.from(
        { length: 129 },
        (_, second): Step => [second % 2 ? 'event:a' : 'event:b', second],
      );
      const stored = read(historyOf(steps));
      expect(stored?.complete_through).toBe(95);
      expect(readTimeline(stored).times.get('event:a')?.at(-1)).toBe(95);
    });

    it('knows what did not happen within a window that ends with its last known second', () => {
      const names = Array.from({ length: 300 }, (_, index): Step => [`event:${index}`, 1_000 + index]);
      const text = historyOf([['install', 5], ...names]);
      // The first that is cut is at 1,095.
      const isComplete = (end: number) => walkOf(text, ['install', 'event:299'], end - 5).isComplete;
      expect([1_093, 1_094, 1_095].map(isComplete)).toEqual([true, true, false]);
    });

    /** Every answer about a step that arrives late, between repeats that may have been removed, is right or incomplete. */
    const expectRightAfter = (before: readonly Step[], seconds: readonly number[]) => {
      for (const second of seconds) {
        const events: Step[] = [...before, ['purchase', second]];
        const { seconds: reached, isComplete } = walkOf(historyOf(events), ['purchase', 'ad'], null);
        const expected = walkNaively(events, ['purchase', 'ad'], null);
        expect([second, reached]).toEqual([
          second,
          isComplete ? expected : expected.slice(0, reached.length),
        ]);
      }
    };
    const around = (seconds: readonly number[]) =>
      seconds.flatMap((second) => [second - 1, second, second + 1]);

    it('is right or incomplete up to a second after every removed repeat', () => {
      const ads = Array.from({ length: 140 }, (_, index): Step => ['ad', 10 * index]);
      expectRightAfter(ads, around(ads.slice(1).map(([, second]) => second)));
    });

    it('takes as many events of one second as a funnel may have steps', () => {
      const ads = (count: number) => Array.from({ length: count }, (): Step => ['ad', 10]);
      const purchases: Step[] = [
        ['purchase', 10],
        ['purchase', 10],
      ];
      expect(walkOf(historyOf(purchases), ['purchase', 'purchase', 'purchase'], null)).toEqual({
        seconds: [0, 0],
        isComplete: true,
      });
      const history = parsed(historyOf(ads(9)));
      expect(history.add('ad', 10)).toBe(true);
      expect(history.add('ad', 10)).toBe(false);
      expect(history.add('ad', 11)).toBe(true);
      expect(history.add('ad', 9)).toBe(true);
      const ten = Array.from({ length: MAX_FUNNEL_LENGTH }, () => 'ad');
      expect(walkOf(historyOf(ads(12)), ten, null).seconds).toHaveLength(10);
      expect(walkOf(historyOf(ads(9)), ten, null).seconds).toHaveLength(9);
    });
  });

  it('takes an event back as if it had never been added, as long as it keeps all', () => {
    const events = stepsBy(60, 90);
    fc.assert(
      fc.property(events, fc.constantFrom(...NAMES), fc.nat(60), (kept, name, second) => {
        const history = parsed(historyOf([...kept, [name, second]]));
        const isKept =
          kept.filter((event) => event[0] === name && event[1] === second).length < MAX_FUNNEL_LENGTH;
        expect(history.remove(name, second)).toBe(true);
        if (isKept) expect(history.toStored()).toEqual(read(historyOf(kept)));
        // It still knows how many it has, by which it is shortened.
        for (let index = 0; index < 128 - kept.length; index++) history.add('event:b', 1_000 + index);
        expect(Object.keys(history.toStored() ?? {})).toEqual(['times']);
      }),
    );
    expect(parsed('null').remove('ad', 1)).toBe(false);
    expect(parsed(historyOf([['ad', 1]])).remove('ad', 2)).toBe(false);
  });

  it('is stored as null without events, and is refused if it is no history', () => {
    expect(parsed('null').toStored()).toBe(null);
    expect(historyOf([['install', 1]])).toBe('{"times":{"install":[1]}}');
    expect(() => parsed('["!"]')).toThrow('not a step history');
  });
});
