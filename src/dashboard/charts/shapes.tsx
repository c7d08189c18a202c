/** A share from 0 to 1 as a bar, next to the number. */
export const Bar = ({ share }: { share: number }) => (
  <svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
    <rect class="rest" width="100" height="10" />
    <rect width={(Math.min(1, Math.max(0, share)) * 100).toFixed(2)} height="10" />
  </svg>
);

type ValueInInterval = { low: number; value: number; high: number };

/** A prediction within its interval, on an axis from 0 to `top`, next to the numbers. */
export const Range = ({ low, value, high, top }: ValueInInterval & { top: number }) => {
  const at = (amount: number) => Math.min(100, Math.max(0, (amount / top) * 100)).toFixed(2);
  return (
    <svg class="range" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
      <rect class="rest" y="4" width="100" height="2" />
      <rect class="band" x={at(low)} width={(Number(at(high)) - Number(at(low))).toFixed(2)} height="10" />
      <line class="middle" x1={at(value)} x2={at(value)} y1="0" y2="10" />
    </svg>
  );
};

/** A difference and its interval around zero, on an axis from `-extent` to `extent`; in colour if it is real. */
export const Interval = ({
  low,
  value,
  high,
  extent,
  isReal,
}: ValueInInterval & { extent: number; isReal: boolean }) => {
  const at = (amount: number) =>
    Math.min(100, Math.max(0, 50 + (extent === 0 ? 0 : (amount / extent) * 50))).toFixed(2);
  const tone = isReal ? (value > 0 ? ' up' : ' down') : '';
  return (
    <svg class={`interval${tone}`} viewBox="0 0 100 16" preserveAspectRatio="none" aria-hidden="true">
      <line class="zero" x1="50" x2="50" y1="0" y2="16" />
      <rect x={at(low)} y="4" width={(Number(at(high)) - Number(at(low))).toFixed(2)} height="8" />
      <line class="middle" x1={at(value)} x2={at(value)} y1="2" y2="14" />
    </svg>
  );
};
