const HEAT_STEPS = 10;
/** The share of the values below the deepest shade, because one outlier must not leave all others pale. */
const HEAT_TOP = 0.95;

/** The class of the shade behind a value among the values of its table or column; empty for none. */
export function heatOf(values: readonly number[]): (value: number | null) => string {
  const sorted = [...values].sort((left, right) => left - right);
  const top = sorted[Math.ceil((sorted.length - 1) * HEAT_TOP)] ?? 0;
  return (value) =>
    value !== null && value > 0
      ? `h${Math.min(HEAT_STEPS, Math.max(1, Math.round((value / (top || value)) * HEAT_STEPS)))}`
      : '';
}
