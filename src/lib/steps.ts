import { nextTurn } from './next-turn.ts';

/** Work in steps of a few milliseconds. Wherever it yields, other requests to the same isolate or object may run. */
export type Steps<Result = void> = Generator<void, Result, void>;

/** Does work step by step, and lets other requests run after each step. `afterStep` is called in between. */
export async function inTurns<Result>(
  steps: Steps<Result>,
  afterStep: () => void = () => undefined,
): Promise<Result> {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    afterStep();
    await nextTurn();
  }
}

/** Does all the work at once. */
export function atOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
