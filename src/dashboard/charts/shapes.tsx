/** A share from 0 to 1 as a bar, next to the number. */
export const Bar = ({ share }: { share: number }) => (
  <svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
    <rect class="rest" width="100" height="10" />
    <rect width={(Math.min(1, Math.max(0, share)) * 100).toFixed(2)} height="10" />
  </svg>
);

/** A prediction within its interval, on an axis from 0 to `top`, next to the numbers. */
export const Range = ({
  low,
  value,
  high,
  top,
}: {
  low: number;
  value: number;
  high: number;
  top: number;
}) => {
  const at = (amount: number) => Math.min(100, Math.max(0, (amount / top) * 100)).toFixed(2);
  return (
    <svg class="range" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
      <rect class="rest" y="4" width="100" height="2" />
      <rect class="band" x={at(low)} width={(Number(at(high)) - Number(at(low))).toFixed(2)} height="10" />
      <line class="middle" x1={at(value)} x2={at(value)} y1="0" y2="10" />
    </svg>
  );
};
