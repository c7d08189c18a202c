import fc from 'fast-check';
import { expect, it } from 'vitest';
import { everyCase, limitCases } from './properties.ts';

const check = (plugins: fc.UniversalPlugin[], holds: (value: number) => void, numRuns = 500) =>
  fc.check(fc.property(fc.nat(), holds), { numRuns, plugins, noGlobalPlugins: true });

it('has few cases in the fast tier, and all of them in the slow one or where a test asks', () => {
  const runsOf = (...plugins: fc.UniversalPlugin[]) => {
    let runs = 0;
    const { failed } = check(plugins, () => {
      runs++;
    });
    return { failed, runs };
  };
  expect(runsOf(limitCases('few'))).toEqual({ failed: false, runs: 50 });
  expect(runsOf(limitCases('many'))).toEqual({ failed: false, runs: 500 });
  expect(runsOf(limitCases('few'), everyCase)).toEqual({ failed: false, runs: 500 });
});

it('has ten cases where each is asynchronous', async () => {
  let runs = 0;
  const property = fc.asyncProperty(fc.nat(), async () => {
    runs++;
  });
  await fc.assert(property, { plugins: [limitCases('few')], noGlobalPlugins: true });
  expect(runs).toBe(10);
});

it('passes when its time is over, says how far it came, and fails for a counterexample only', ({ task }) => {
  let now = 0;
  const clock = () => now;
  const late = check([limitCases('many', clock)], () => {
    now += 60_000;
  });
  expect(late).toMatchObject({ failed: false, interrupted: true, numRuns: 2 });
  expect(task.meta.interrupted).toEqual([`2 of 500 cases, seed ${late.seed}`]);
  delete task.meta.interrupted;
  const refuted = check([limitCases('many', clock)], (value) => {
    now += 1;
    if (value > 0) throw new Error('too large');
  });
  expect(refuted).toMatchObject({ failed: true, counterexample: [1] });
});

it('has one case at least, however slow', ({ task }) => {
  let now = 0;
  const slow = check([limitCases('few', () => (now += 1_000_000))], () => undefined);
  expect(slow).toMatchObject({ failed: false, numRuns: 1 });
  delete task.meta.interrupted;
});
