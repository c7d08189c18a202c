import { describe, expect, it } from 'vitest';

/** A bound of a time, wait, age or amount, and what is answered one step below it, at it and one step above it. */
export type Bound<Answer = unknown> = {
  name: string;
  at: number;
  /** The smallest difference that may matter; 1 if not given. */
  step?: number;
  ask: (value: number) => Answer | Promise<Answer>;
  below: Answer;
  exact: Answer;
  above: Answer;
};

/** Asks each bound at −1, 0 and +1 steps. All three answers are stated, so that a bound that moves by one step is seen. */
export function testBounds(title: string, bounds: readonly Bound[]): void {
  describe(title, () => {
    for (const { name, at, step = 1, ask, below, exact, above } of bounds) {
      it.each([
        ['−1', at - step, below],
        ['0', at, exact],
        ['+1', at + step, above],
      ])(`${name}: %s`, async (_, value, expected) => {
        expect(await ask(value)).toEqual(expected);
      });
    }
  });
}
