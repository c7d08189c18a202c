import fc from 'fast-check';
import { inject, TestRunner } from 'vitest';

// How many cases a property has. It fails for a counterexample only, never for the time that its cases take.

declare module 'vitest' {
  interface ProvidedContext {
    /** The fast tier checks properties with few cases, the slow tier with all that they ask for. CASES=many asks for all of them. */
    cases: 'few' | 'many';
  }
  interface TaskMeta {
    /** How far properties came that ran out of time. */
    interrupted?: string[];
  }
}

/** A case of an asynchronous property mostly is a history with its reports. */
const FEW_ASYNC = 10;
const FEW_SYNC = 50;
/** All below the time that a test has. */
const LIMIT_MS = { few: 15_000, many: 90_000 };
/** From the counterexample on: the smallest by then is reported. */
const SHRINK_LIMIT_MS = 20_000;

// Shared by the setup file’s copy of this module and the test’s.
const EVERY = Symbol.for('every case');

/** For a property whose test also counts what its cases did: `{ plugins: [everyCase] }` has the fast tier check them all. */
export const everyCase: fc.UniversalPlugin = (_, store) => {
  store.set(EVERY, true);
  return {};
};

/** Ends the property: it passes, since at least one case has passed, or fails with the counterexample that it has. */
const interrupt = () => new fc.PreconditionFailure(true);

export const limitCases =
  (cases: 'few' | 'many', now = () => performance.now()): fc.UniversalPlugin =>
  (_, store) => {
    let endsAt = now() + LIMIT_MS[cases];
    let few = FEW_SYNC;
    let passed = 0;
    let hasFailed = false;
    let ranOutOfTime = false;

    function take<Outcome>(outcome: Outcome): Outcome {
      if (outcome === null) passed++;
      else if (!hasFailed && !fc.PreconditionFailure.isFailure(outcome)) {
        hasFailed = true;
        endsAt = now() + SHRINK_LIMIT_MS;
      }
      return outcome;
    }

    return {
      decorateRun: (run) => (value) => {
        if (!hasFailed && cases === 'few' && passed >= few && !store.get(EVERY)) return interrupt();
        if ((hasFailed || passed > 0) && now() > endsAt) {
          ranOutOfTime = true;
          return interrupt();
        }
        const outcome = run(value);
        if (!(outcome instanceof Promise)) return take(outcome);
        few = FEW_ASYNC;
        return outcome.then(take);
      },
      onAllRunsComplete: ({ failed, seed, runConfiguration }) => {
        const test = TestRunner.getCurrentTest();
        if (!ranOutOfTime || failed || !test) return;
        test.meta.interrupted ??= [];
        test.meta.interrupted.push(`${passed} of ${runConfiguration.numRuns} cases, seed ${seed}`);
      },
    };
  };

// A file that resets its modules loads another fast-check. Files that share one install the plugin once.
const isolate = globalThis as { limited?: WeakSet<object> };
isolate.limited ??= new WeakSet();
if (!isolate.limited.has(fc.installGlobalPlugin)) {
  isolate.limited.add(fc.installGlobalPlugin);
  fc.installGlobalPlugin(limitCases(inject('cases')));
}
