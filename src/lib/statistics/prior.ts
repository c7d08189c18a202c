// What is known of a model's parameters before a cohort's own data: their logarithms are about `logs`, normally distributed with these standard
// deviations, independently of each other. With much data it changes nothing; with none, it is the answer.

export type Prior = { logs: readonly number[]; deviations: readonly number[] };

/** The negative logarithm of a prior's density, without its constant. 0 without a prior. */
export const priorCost = (prior: Prior | undefined, logs: readonly number[]): number =>
  prior === undefined
    ? 0
    : logs.reduce((sum, log, axis) => {
        const { logs: center, deviations } = prior;
        return sum + ((log - (center[axis] ?? 0)) / (deviations[axis] ?? 1)) ** 2 / 2;
      }, 0);

/** The prior for a parameter in other units: `by` is added to the logarithm at this place. */
export const shiftPrior = (prior: Prior | undefined, axis: number, by: number): Prior | undefined =>
  prior && { ...prior, logs: prior.logs.with(axis, (prior.logs[axis] ?? 0) + by) };
