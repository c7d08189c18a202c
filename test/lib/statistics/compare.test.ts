import { describe, expect, it } from 'vitest';
import { compareMeans, compareProportions, EMPTY_SAMPLE, joinSamples } from '#lib/statistics/compare';
import { normalTwoSided, studentQuantile, studentTwoSided } from '#lib/statistics/distributions';
import { lnGamma } from '#lib/statistics/gamma';
import { intervalAround, joinIntervals } from '#lib/statistics/interval';

describe('distributions, against published tables', () => {
  it.each([
    [0, 1],
    [0.6744897501960817, 0.5],
    [1.6448536269514722, 0.1],
    [1.959963984540054, 0.05],
    [2.5758293035489004, 0.01],
    [2.9, 0.0037316266],
    [3.2905267314919255, 0.001],
    [-6, 1.973175290075396e-9],
    [10, 1.523970604832e-23],
  ])('the normal one: p of z = %d is %d', (z, p) => {
    expect(Math.abs(normalTwoSided(z) - p)).toBeLessThanOrEqual(p * 1e-8);
  });

  it.each([
    [1, 1, 0.5],
    [12.7062047364, 1, 0.05],
    [4.3026527297, 2, 0.05],
    [2.228138852, 10, 0.05],
    [3.1692726726, 10, 0.01],
    [2.0422724563, 30, 0.05],
    [1.9599639845, 1e9, 0.05],
  ])("Student's: p of t = %d with %d degrees of freedom is %d", (t, df, p) => {
    expect(Math.abs(studentTwoSided(t, df) - p)).toBeLessThan(p * 1e-7);
    expect(Math.abs(studentQuantile(p, df) - t)).toBeLessThan(t * 1e-7);
  });

  it.each([
    [1, 0],
    [0.5, Math.log(Math.sqrt(Math.PI))],
    [0.001, 6.907178885383853],
    [10, Math.log(362_880)],
    [171, 706.5730622457875],
  ])('the logarithm of the gamma function of %d is %d', (x, value) => {
    expect(Math.abs(lnGamma(x) - value)).toBeLessThan(1e-12 * Math.max(1, value));
  });
});

describe('two proportions', () => {
  // Cookie Cats, 90,189 players, a public A/B test: gate at level 30 against level 40.
  it.each([
    { day: 1, counts: [20_034, 20_119], difference: -0.0059, low: -0.0124, high: 0.0006, p: 0.0744 },
    { day: 7, counts: [8_502, 8_279], difference: -0.0082, low: -0.0133, high: -0.0031, p: 0.0016 },
  ])('day $day of Cookie Cats', ({ counts: [gate30 = 0, gate40 = 0], difference, low, high, p }) => {
    const found = compareProportions({ size: 44_700, count: gate30 }, { size: 45_489, count: gate40 });
    expect(found?.difference).toBeCloseTo(difference, 4);
    expect(found?.low).toBeCloseTo(low, 4);
    expect(found?.high).toBeCloseTo(high, 4);
    expect(found?.pValue).toBeCloseTo(p, 4);
  });

  it('give no result for an empty side, or if all values are equal', () => {
    expect(compareProportions({ size: 0, count: 0 }, { size: 9, count: 3 })).toBeNull();
    expect(compareProportions({ size: 9, count: 9 }, { size: 5, count: 5 })).toEqual({
      difference: 0,
      low: null,
      high: null,
      pValue: null,
    });
  });
});

const sampleOf = (values: readonly number[]) =>
  values.reduce((sample, mean) => joinSamples(sample, { size: 1, mean, squares: 0 }), EMPTY_SAMPLE);

describe('two means', () => {
  const first = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0, 2];
  const second = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];

  it("agree with R's t.test of Student's sleep data: t -1.8608, df 17.776, p 0.07939", () => {
    const found = compareMeans(sampleOf(second), sampleOf(first));
    expect(found?.difference).toBeCloseTo(-1.58, 10);
    expect(found?.low).toBeCloseTo(-3.3654832, 6);
    expect(found?.high).toBeCloseTo(0.2054832, 6);
    expect(found?.pValue).toBeCloseTo(0.07939, 5);
  });

  it('do not depend on how the samples were combined, or on a large mean', () => {
    const far = first.map((value) => value + 1e9);
    const whole = sampleOf(far);
    const joined = joinSamples(joinSamples(EMPTY_SAMPLE, sampleOf(far.slice(0, 3))), sampleOf(far.slice(3)));
    expect(joined.size).toBe(10);
    expect(joined.mean).toBeCloseTo(whole.mean, 5);
    expect(joined.squares / 9).toBeCloseTo(3.200556, 4);
  });

  it('give no result for an empty side, and no interval for a single value or equal ones', () => {
    const one = sampleOf([1]);
    const unknown = { low: null, high: null, pValue: null };
    expect(compareMeans(EMPTY_SAMPLE, one)).toBeNull();
    expect(compareMeans(one, sampleOf([2, 3]))).toEqual({ difference: 1.5, ...unknown });
    expect(compareMeans(sampleOf([2, 2]), sampleOf([2, 2, 2]))).toEqual({ difference: 0, ...unknown });
  });
});

it('pools proportions by the sizes of both sides', () => {
  const found = compareProportions({ size: 100, count: 10 }, { size: 200, count: 40 });
  expect(found?.difference).toBeCloseTo(0.1, 12);
  // z = 0.1 / √(1/6 · 5/6 · (1/100 + 1/200))
  expect(found?.pValue).toBeCloseTo(0.028459736916, 9);
  expect(found?.low).toBeCloseTo(0.019188614693, 9);
});

it('adds up what two amounts are expected to be, and how far off they may be', () => {
  const [left, right] = [intervalAround(30, 16), intervalAround(10, 9)];
  expect(left && right && joinIntervals(left, right)).toEqual(intervalAround(40, 25));
});
