import { describe, expect, it } from 'vitest';
import { type FirstPurchase, fitFirstPurchase } from '#lib/statistics/first-purchase';
import { type Purchases, predictRevenue, type ValuedHistory } from '#lib/statistics/predict-revenue';
import { seededRandom } from '../../helpers/random.ts';
import { isThorough, slowIt } from '../../helpers/thorough.ts';

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

/**
 * Customers seen for `age` days, and what they bring in the `ahead` days after. They buy for the first time on day 0, or when `first` says.
 */
function simulate(
  seed: number,
  customers: number,
  age: number,
  ahead: number,
  first: FirstPurchase | null = null,
): { data: Purchases; future: number } {
  const { random, gamma, beta } = simulator(seed);
  const model = { r: 0.25, alpha: 30, a: 0.8, b: 2.4, p: 6, q: 4, gamma: 15 };
  const histories: ValuedHistory[] = [];
  const spending: { x: number; mean: number; count: number }[] = [];
  const [firsts, waiting]: { age: number; count: number }[][] = [[], []];
  const firstValues = { count: 0, sum: 0, squares: 0 };
  let future = 0;
  for (let customer = 0; customer < customers; customer++) {
    const rate = gamma(model.r) / model.alpha;
    const leaves = beta(model.a, model.b);
    const nu = gamma(model.q) / model.gamma;
    let [x, lastAt, spent] = [0, 0, 0];
    const begin = first ? Math.ceil((-Math.log(1 - random()) * first.beta) / gamma(first.k)) : 0;
    const value = gamma(model.p) / nu;
    if (begin > age) waiting?.push({ age, count: 1 });
    else {
      firsts?.push({ age: begin, count: 1 });
      firstValues.count++;
      firstValues.sum += value;
      firstValues.squares += value ** 2;
    }
    if (begin > age && begin <= age + ahead) future += value;
    for (let at = begin; at <= age + ahead; ) {
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
    if (begin > age) continue;
    const since = x > 0 ? lastAt - begin : 0;
    histories.push({ x, lastAt: since, age: age - begin, count: 1, valued: x, value: spent });
    if (x > 0) spending.push({ x, mean: spent / x, count: 1 });
  }
  return { data: { histories, spending, firsts: firsts ?? [], waiting: waiting ?? [], firstValues }, future };
}

describe.each([
  { of: 'customers who bought on day 0', first: null, customers: 1_500, times: isThorough ? 40 : 8 },
  {
    of: 'customers of whom most have not bought yet',
    first: { k: 0.2, beta: 5 },
    customers: 3_000,
    times: isThorough ? 20 : 4,
  },
])('the prediction of $of', ({ first, customers, times }) => {
  it('contains the known future in its 95 % interval about that often', () => {
    const runs = Array.from({ length: times }, (_, seed) => {
      const { data, future } = simulate(seed + 1, customers, 60, 90, first);
      const found = predictRevenue(data, 90);
      if (!found) throw new Error('no fit');
      return { future, ...found };
    });
    const hits = runs.filter(({ future, low, high }) => low <= future && future <= high).length;
    expect(hits).toBeGreaterThanOrEqual(0.875 * times);
    // And the interval says something: it is not the whole world.
    const widths = runs.map(({ low, high, revenue }) => (high - low) / revenue).sort((a, b) => a - b);
    expect(widths[times / 2]).toBeLessThan(1);
    const bias = runs.reduce((sum, { future, revenue }) => sum + revenue / future, 0) / runs.length;
    expect(bias).toBeGreaterThan(0.9);
    expect(bias).toBeLessThan(1.1);
  });
});

describe('the prediction', () => {
  it('assumes a constant price if all purchases had it', () => {
    const { data } = simulate(3, 1_500, 60, 90);
    const histories = data.histories.map((own) => ({ ...own, value: 5 * own.x }));
    const spending = data.spending.map(({ x }) => ({ x, mean: 5, count: 1 }));
    const found = predictRevenue({ ...data, histories, spending }, 90);
    expect(found?.revenue).toBeCloseTo(5 * (found?.purchases ?? 0), 6);
    expect(found?.low).toBeGreaterThan(0);
  });

  it('is the same for single and for grouped customers', () => {
    const { data } = simulate(4, 800, 60, 90);
    const rounded = data.histories.map((own) => ({ ...own, lastAt: Math.ceil(own.lastAt / 5) * 5 }));
    const groups = Map.groupBy(rounded, ({ x, lastAt }) => `${x}/${lastAt}`);
    const together = [...groups.values()].flatMap(([first, ...others]) =>
      first
        ? [
            {
              ...first,
              count: 1 + others.length,
              value: others.reduce((sum, { value }) => sum + value, first.value),
            },
          ]
        : [],
    );
    const [one, all] = [rounded, together].map((histories) => predictRevenue({ ...data, histories }, 30));
    expect(all?.revenue).toBeCloseTo(one?.revenue ?? Number.NaN, 4);
    expect(all?.purchases).toBeCloseTo(one?.purchases ?? Number.NaN, 4);
  });

  it('expects first purchases only of those who have not bought, and their repeats', () => {
    const { data } = simulate(5, 4_000, 60, 90, { k: 0.2, beta: 5 });
    const without = predictRevenue({ ...data, waiting: [] }, 90);
    const all = predictRevenue(data, 90);
    expect(all?.purchases).toBeGreaterThan(Number(without?.purchases) + 1);
    // If all first purchases were on day 0, nobody begins later.
    const onInstall = { ...data, firsts: [{ age: 0, count: data.histories.length }] };
    expect(predictRevenue(onInstall, 90)?.purchases).toBeCloseTo(Number(without?.purchases), 6);
  });
});

slowIt('finds the parameters by which customers buy for the first time', () => {
  const first = { k: 0.3, beta: 8 };
  const { data } = simulate(6, 30_000, 200, 1, first);
  const fitted = fitFirstPurchase(data.firsts, data.waiting);
  expect(fitted?.model.k).toBeCloseTo(first.k, 1);
  expect(Math.abs(Math.log((fitted?.model.beta ?? 0) / first.beta))).toBeLessThan(0.2);
});
