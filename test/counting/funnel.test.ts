import { describe, expect, it } from 'vitest';
import { sumFunnel } from '#counting';
import { packDurations } from '../../src/counting/questions/funnel.ts';

const STEPS = ['install', 'ad'];
const medianOf = (...lists: number[][]) =>
  sumFunnel(
    STEPS,
    packDurations(lists, 1_000).map((durations) => ({
      key: '',
      devices: [0, 0],
      durations: [new Uint32Array(), durations],
      incomplete: 0,
    })),
  ).steps[1]?.medianSeconds;

describe('the median of durations', () => {
  it.each([
    { lists: [[]], median: null },
    { lists: [[7]], median: 7 },
    { lists: [[7], [9]], median: 8 },
    {
      lists: [
        [5, 5, 5, 1],
        [100, 100],
      ],
      median: 5,
    },
    { lists: [[0, 0], [3, 4], [10]], median: 3 },
  ])('$lists: $median', ({ lists, median }) => {
    expect(medianOf(...lists)).toBe(median);
  });
});

describe('packed durations', () => {
  it('are exact up to the limit, shortest first', () => {
    expect(packDurations([[90_000, 5, 90_000], [], [1]], 3).map((list) => [...list])).toEqual([
      [5, 1, 90_000, 2],
      [],
      [1, 1],
    ]);
  });

  it('round long ones beyond it, by no more than necessary', () => {
    const list = Array.from({ length: 50_000 }, (_, index) => 37 * index);
    const [rounded = new Uint32Array()] = packDurations([list], 20_000);
    let before = 0;
    for (let index = 0; index < rounded.length; index += 2) {
      const [seconds = 0, count = 0] = [rounded[index], rounded[index + 1]];
      const middle = list[before + Math.floor(count / 2)] ?? 0;
      expect(Math.abs(seconds - middle)).toBeLessThanOrEqual(middle / 1_000 + 37);
      before += count;
    }
    expect(before).toBe(50_000);
    const [coarse = new Uint32Array()] = packDurations([list], 40);
    expect(coarse.length / 2).toBeLessThanOrEqual(40);
  });
});
