import { describe, expect, it } from 'vitest';
import { predictRevenue, type ValuedHistory } from '#lib/statistics/predict-revenue';
import { seededRandom } from '../../helpers/random.ts';

// Customers as the models say they are, of whom the future is known: Marsaglia and Tsang's gamma variables, and what follows.

function simulator(seed: number) {
  const random = seededRandom(seed);
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const gamma = (shape: number): number => {
    if (shape < 1) return gamma(shape + 1) * (1 - random()) ** (1 / shape);
    const d = shape - 1 / 3;
    const c = 1 / Math.sqrt(9 * d);
    for (;;) {
      const x = normal();
      const v = (1 + c * x) ** 3;
      if (v > 0 && Math.log(1 - random()) < (x * x) / 2 + d - d * v + d * Math.log(v)) return d * v;
    }
  };
  const beta = (a: number, b: number) => {
    const left = gamma(a);
    return left / (left + gamma(b));
  };
  return { random, gamma, beta };
}

/** Customers seen for `age` days, and what they bring in the `ahead` days after. */
function simulate(seed: number, customers: number, age: number, ahead: number) {
  const { random, gamma, beta } = simulator(seed);
  const model = { r: 0.25, alpha: 30, a: 0.8, b: 2.4, p: 6, q: 4, gamma: 15 };
  const histories: ValuedHistory[] = [];
  const spending: { x: number; mean: number; count: number }[] = [];
  let future = 0;
  for (let customer = 0; customer < customers; customer++) {
    const rate = gamma(model.r) / model.alpha;
    const leaves = beta(model.a, model.b);
    const nu = gamma(model.q) / model.gamma;
    let [x, lastAt, spent] = [0, 0, 0];
    for (let at = 0; ; ) {
      at += -Math.log(1 - random()) / rate;
      if (at > age + ahead) break;
      const value = gamma(model.p) / nu;
      if (at > age) future += value;
      else {
        x++;
        lastAt = at;
        spent += value;
      }
      if (random() < leaves) break;
    }
    const mean = x > 0 ? spent / x : 0;
    histories.push({ x, lastAt, age, count: 1, means: mean });
    if (x > 0) spending.push({ x, mean, count: 1 });
  }
  return { histories, spending, future };
}

describe('the prediction', () => {
  it('contains the known future of customers in its 95 % interval about that often', () => {
    const runs = Array.from({ length: 40 }, (_, seed) => {
      const { histories, spending, future } = simulate(seed + 1, 1_500, 60, 90);
      const found = predictRevenue(histories, spending, 90);
      if (!found) throw new Error('no fit');
      return { future, ...found };
    });
    const hits = runs.filter(({ future, low, high }) => low <= future && future <= high).length;
    expect(hits).toBeGreaterThanOrEqual(35);
    // And the interval says something: it is not the whole world.
    const widths = runs.map(({ low, high, revenue }) => (high - low) / revenue).sort((a, b) => a - b);
    expect(widths[20]).toBeLessThan(1);
    const bias = runs.reduce((sum, { future, revenue }) => sum + revenue / future, 0) / runs.length;
    expect(bias).toBeGreaterThan(0.9);
    expect(bias).toBeLessThan(1.1);
  });

  it('assumes a constant price if all purchases had it', () => {
    const { histories } = simulate(3, 1_500, 60, 90);
    const priced = histories.map((own) => ({ ...own, means: own.x > 0 ? 5 : 0 }));
    const spending = priced.filter(({ x }) => x > 0).map(({ x }) => ({ x, mean: 5, count: 1 }));
    const found = predictRevenue(priced, spending, 90);
    expect(found?.revenue).toBeCloseTo(5 * (found?.purchases ?? 0), 6);
    expect(found?.low).toBeGreaterThan(0);
  });

  it('is the same for single and for grouped customers', () => {
    const { histories, spending } = simulate(4, 800, 60, 90);
    const rounded = histories.map((own) => ({ ...own, lastAt: Math.ceil(own.lastAt / 5) * 5 }));
    const groups = Map.groupBy(rounded, ({ x, lastAt }) => `${x}/${lastAt}`);
    const together = [...groups.values()].flatMap(([first, ...others]) =>
      first
        ? [
            {
              ...first,
              count: 1 + others.length,
              means: others.reduce((sum, { means }) => sum + means, first.means),
            },
          ]
        : [],
    );
    const [one, all] = [predictRevenue(rounded, spending, 30), predictRevenue(together, spending, 30)];
    expect(all?.revenue).toBeCloseTo(one?.revenue ?? Number.NaN, 4);
    expect(all?.purchases).toBeCloseTo(one?.purchases ?? Number.NaN, 4);
  });
});
