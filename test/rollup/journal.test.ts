import { expect, it } from 'vitest';
import { type Earning, Journal } from '../../src/rollup/device/journal.ts';

it('gives each device its own entries, in their order of arrival', () => {
  const journal = new Journal();
  const devices = Array.from({ length: 7 }, () => ({ first: -1, last: -1, added: [] as unknown[][] }));
  for (let index = 0; index < 5_000; index++) {
    const device = devices[(index * index) % devices.length];
    if (!device) continue;
    const kind: Earning = index % 5 === 0 ? 'purchase' : 'ad';
    const isStep = index % 3 === 0;
    // Amounts go up to 2^53, and a run may bring any number of names.
    const own = isStep
      ? ([index % 2 === 0 ? 'added' : 'removed', `event:${index}`, 1_772_323_200 + index] as const)
      : ([kind, index % 2 === 0 ? 'usd' : 'eur', index % 11, Number.MAX_SAFE_INTEGER - index] as const);
    device.added.push([...own]);
    device.last =
      own.length === 3 ? journal.addStep(device.last, ...own) : journal.addEarning(device.last, ...own);
    if (device.first < 0) device.first = device.last;
  }
  const visited = devices.map(({ first }) => {
    const found: unknown[][] = [];
    journal.visit(
      first,
      (...step) => found.push(step),
      (...earning) => found.push(earning),
    );
    return found;
  });
  expect(visited).toEqual(devices.map(({ added }) => added));
});

it('measures the size of its entries, and each text once', () => {
  const journal = new Journal();
  let last = -1;
  for (let index = 0; index < 1_000; index++) last = journal.addStep(last, 'added', 'ad', index);
  const { weight } = journal;
  expect(weight).toBeGreaterThan(16_000);
  expect(weight).toBeLessThan(17_000);
  journal.addStep(last, 'added', 'x'.repeat(10_000), 1);
  expect(journal.weight).toBeGreaterThan(weight + 10_000);
});
