const BILLIONTHS = 1e9;

/** A whole number in whole shares that differ by at most 1 and add up to it, the larger ones first. */
export function wholeShares(total: number, count: number): number[] {
  const share = Math.floor(total / count);
  const larger = total - share * count;
  return Array.from({ length: count }, (_, index) => share + (index < larger ? 1 : 0));
}

/** An amount in equal shares, to a billionth, that add up to it. Exact up to 9 million. */
export const amountShares = (amount: number, count: number): number[] =>
  count === 1
    ? [amount]
    : wholeShares(Math.round(amount * BILLIONTHS), count).map((share) => share / BILLIONTHS);
