import { describe, expect, it } from 'vitest';
import { bgNbdLogLikelihood, expectBgNbd, fitBgNbd } from '#lib/statistics/bg-nbd';
import { expectSpending, fitGammaGamma } from '#lib/statistics/gamma-gamma';
import { hessian, minimize, quadraticForm } from '#lib/statistics/minimize';
import { CDNOW_HISTORIES, CDNOW_SPENDING } from './fixtures/cdnow.ts';

describe('BG/NBD on the sample of CDNOW', () => {
  const fitted = fitBgNbd(CDNOW_HISTORIES);

  it('finds the published parameters: r 0.243, alpha 4.414, a 0.793, b 2.426, log-likelihood -9582.4', () => {
    const { r, alpha, a, b } = fitted.model;
    expect(r).toBeCloseTo(0.243, 3);
    expect(alpha).toBeCloseTo(4.414, 2);
    expect(a).toBeCloseTo(0.793, 2);
    expect(b).toBeCloseTo(2.426, 2);
    expect(fitted.logLikelihood).toBeCloseTo(-9582.4, 1);
  });

  it('finds the published expectation: 1.226 purchases in 39 weeks after x = 2, last at 30.43 of 38.86', () => {
    const model = { r: 0.2426, alpha: 4.4136, a: 0.7929, b: 2.4259 };
    const { purchases } = expectBgNbd(model, { x: 2, lastAt: 30.43, age: 38.86 }, 39);
    expect(purchases).toBeCloseTo(1.226, 3);
  });

  it('is at a maximum whose second derivatives describe its sharpness', () => {
    const at = (change: Partial<typeof fitted.model>) =>
      bgNbdLogLikelihood({ ...fitted.model, ...change }, CDNOW_HISTORIES);
    for (const name of ['r', 'alpha', 'a', 'b'] as const) {
      for (const factor of [0.99, 1.01]) {
        expect(at({ [name]: fitted.model[name] * factor })).toBeLessThan(fitted.logLikelihood);
      }
    }
    // The standard errors of the logarithms, as numpy finds them from the same likelihood.
    const errors = [0, 1, 2, 3].map((parameter) => {
      const gradient = [0, 0, 0, 0].with(parameter, 1);
      return Math.sqrt(quadraticForm(fitted.hessian, gradient) ?? Number.NaN);
    });
    expect(errors).toEqual([
      expect.closeTo(0.052, 2),
      expect.closeTo(0.086, 2),
      expect.closeTo(0.234, 2),
      expect.closeTo(0.291, 2),
    ]);
  });

  it('does not depend on the unit of time', () => {
    const inDays = CDNOW_HISTORIES.map((own) => ({ ...own, lastAt: own.lastAt * 7, age: own.age * 7 }));
    const { model } = fitBgNbd(inDays);
    expect(model.r).toBeCloseTo(fitted.model.r, 4);
    expect(model.alpha).toBeCloseTo(fitted.model.alpha * 7, 2);
  });
});

it('Gamma-Gamma finds the published parameters of CDNOW: p 6.25, q 3.74, gamma 15.44', () => {
  const { model } = fitGammaGamma(CDNOW_SPENDING);
  expect(model.p).toBeCloseTo(6.25, 1);
  expect(model.q).toBeCloseTo(3.74, 1);
  expect(model.gamma).toBeCloseTo(15.44, 0);
  // The mean of all customers, and one who has bought often is expected to go on as before.
  const { p, q, gamma } = model;
  expect(expectSpending(model, 0, 0).mean).toBeCloseTo((p * gamma) / (q - 1), 9);
  expect(expectSpending(model, 1_000, 80).mean).toBeCloseTo(80, 0);
});

describe('the expectation', () => {
  it('has the closed form for a customer who never leaves', () => {
    // A gamma-Poisson one: (r + x) / (alpha + age) · ahead.
    const model = { r: 0.7, alpha: 5, a: 1e-9, b: 3 };
    const { purchases, variance } = expectBgNbd(model, { x: 3, lastAt: 9, age: 10 }, 20);
    const mean = (3.7 / 15) * 20;
    expect(purchases).toBeCloseTo(mean, 5);
    expect(variance).toBeCloseTo(mean + mean ** 2 / 3.7, 4);
  });

  it('is continuous at a = 1', () => {
    const at = (a: number) =>
      expectBgNbd({ r: 0.5, alpha: 3, a, b: 2 }, { x: 1, lastAt: 2, age: 8 }, 30).purchases;
    expect(at(1)).toBeCloseTo((at(0.999) + at(1.001)) / 2, 4);
  });
});

describe('the minimum', () => {
  it('of Rosenbrock’s valley is found, with its curvature', () => {
    const valley = ([x = 0, y = 0]: readonly number[]) => (1 - x) ** 2 + 100 * (y - x * x) ** 2;
    const { at } = minimize(valley, [-1.2, 1]);
    expect(at[0]).toBeCloseTo(1, 3);
    expect(at[1]).toBeCloseTo(1, 3);
    const curvature = hessian(valley, [1, 1]);
    expect(curvature.flat().map(Math.round)).toEqual([802, -400, -400, 200]);
    // (1, 0) · inverse · (1, 0) = 200 / (802 · 200 - 400²).
    expect(
      quadraticForm(
        [
          [802, -400],
          [-400, 200],
        ],
        [1, 0],
      ),
    ).toBeCloseTo(0.5, 9);
  });

  it('is rejected if the function has no curvature there', () => {
    expect(
      quadraticForm(
        [
          [1, 2],
          [2, 1],
        ],
        [1, 0],
      ),
    ).toBeNull();
    expect(quadraticForm([[Number.NaN]], [1])).toBeNull();
  });
});
