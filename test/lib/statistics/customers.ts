import type { FirstPurchase } from '#lib/statistics/first-purchase';
import type { Purchases, ValuedHistory } from '#lib/statistics/predict-revenue';
import { seededRandom } from '../../helpers/random.ts';

// Customers as the models say they are, of whom the future is known: Marsaglia and Tsang's gamma variables, and what follows.

export function simulator(seed: number) {
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
  return { random, normal, gamma, beta };
}

/** Parameters of BG/NBD with times in days, and of Gamma-Gamma. */
export const MODEL = { r: 0.25, alpha: 30, a: 0.8, b: 2.4, p: 6, q: 4, gamma: 15 };

/**
 * Customers seen for `age` days, and what they bring in the `ahead` days after. They buy for the first time on day 0, or when `first` says.
 */
export function simulate(
  seed: number,
  customers: number,
  age: number,
  ahead: number,
  first: FirstPurchase | null = null,
  model = MODEL,
): { data: Purchases; future: number } {
  const { random, gamma, beta } = simulator(seed);
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
