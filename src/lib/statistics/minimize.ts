type Vertex = { at: number[]; value: number };

const MAX_EVALUATIONS = 3_000;
const TOLERANCE = 1e-10;

/**
 * Minimizes a function with the Nelder-Mead simplex method, restarting from the result until that no longer improves it. The function
 * may return infinity where it is not defined.
 */
export function minimize(value: (at: readonly number[]) => number, start: readonly number[]): Vertex {
  let best = descend(value, start, 0.5);
  for (let round = 0; round < 4; round++) {
    const again = descend(value, best.at, 0.1);
    const gain = best.value - again.value;
    if (gain > 0) best = again;
    if (gain < 1e-7) break;
  }
  return best;
}

function descend(value: (at: readonly number[]) => number, start: readonly number[], step: number): Vertex {
  let evaluations = 0;
  const vertex = (at: number[]): Vertex => {
    evaluations++;
    const own = value(at);
    return { at, value: Number.isNaN(own) ? Number.POSITIVE_INFINITY : own };
  };
  const size = start.length;
  const simplex = [vertex([...start])];
  for (let axis = 0; axis < size; axis++) {
    simplex.push(vertex(start.map((own, index) => (index === axis ? own + step : own))));
  }
  for (;;) {
    simplex.sort((left, right) => left.value - right.value);
    const [best, worst] = [simplex[0], simplex[size]];
    const second = simplex[size - 1] ?? worst;
    if (!best || !worst || !second) throw new Error('a simplex needs one more vertex than it has dimensions');
    const spread = Math.abs(worst.value - best.value);
    if (evaluations >= MAX_EVALUATIONS || spread <= TOLERANCE * (1 + Math.abs(best.value))) return best;
    const center = start.map(
      (_, axis) => simplex.slice(0, size).reduce((sum, { at }) => sum + (at[axis] ?? 0), 0) / size,
    );
    const along = (factor: number) =>
      vertex(center.map((middle, axis) => middle + factor * ((worst.at[axis] ?? 0) - middle)));
    const reflected = along(-1);
    if (reflected.value < best.value) {
      const expanded = along(-2);
      simplex[size] = expanded.value < reflected.value ? expanded : reflected;
      continue;
    }
    if (reflected.value < second.value) {
      simplex[size] = reflected;
      continue;
    }
    const contracted = along(reflected.value < worst.value ? -0.5 : 0.5);
    if (contracted.value < Math.min(reflected.value, worst.value)) {
      simplex[size] = contracted;
      continue;
    }
    for (let index = 1; index <= size; index++) {
      const own = simplex[index]?.at ?? [];
      simplex[index] = vertex(own.map((coordinate, axis) => ((best.at[axis] ?? 0) + coordinate) / 2));
    }
  }
}

const SOFT_BOUND = 6;

/**
 * Keeps parameters from running away if the data says nothing about them: 0 for logarithms from -6 to 6, growing smoothly beyond.
 */
export const penalty = (logs: readonly number[]): number =>
  logs.reduce((sum, log) => sum + Math.max(0, Math.abs(log) - SOFT_BOUND) ** 2, 0);

/** A model's most likely parameters, their logarithms, and the Hessian of the negative log-likelihood with respect to these. */
export type Fitted<Model> = { model: Model; logs: number[]; hessian: number[][] };

const HESSIAN_STEP = 1e-3;

/** The matrix of second derivatives, by central differences. */
export function hessian(value: (at: readonly number[]) => number, at: readonly number[]): number[][] {
  const moved = (row: number, rowStep: number, column: number, columnStep: number) =>
    value(
      at.map(
        (own, axis) =>
          own +
          (axis === row ? rowStep * HESSIAN_STEP : 0) +
          (axis === column ? columnStep * HESSIAN_STEP : 0),
      ),
    );
  return at.map((_, row) =>
    at.map((_other, column) => {
      const [same, opposite] = [
        moved(row, 1, column, 1) + moved(row, -1, column, -1),
        moved(row, 1, column, -1) + moved(row, -1, column, 1),
      ];
      return (same - opposite) / (4 * HESSIAN_STEP ** 2);
    }),
  );
}

/**
 * `gradient' · matrix⁻¹ · gradient` for a symmetric positive definite matrix, by Cholesky decomposition. Returns null for any other
 * matrix.
 */
export function quadraticForm(matrix: readonly number[][], gradient: readonly number[]): number | null {
  const size = gradient.length;
  const lower = matrix.map((row) => row.map(() => 0));
  const solved: number[] = [];
  for (let row = 0; row < size; row++) {
    const own = lower[row] ?? [];
    for (let column = 0; column <= row; column++) {
      const other = lower[column] ?? [];
      let sum = matrix[row]?.[column] ?? 0;
      for (let index = 0; index < column; index++) sum -= (own[index] ?? 0) * (other[index] ?? 0);
      if (row === column) {
        if (!(sum > 0)) return null;
        own[column] = Math.sqrt(sum);
      } else own[column] = sum / (other[column] ?? 1);
    }
    let rest = gradient[row] ?? 0;
    for (let index = 0; index < row; index++) rest -= (own[index] ?? 0) * (solved[index] ?? 0);
    solved.push(rest / (own[row] ?? 1));
  }
  return solved.reduce((sum, part) => sum + part * part, 0);
}
