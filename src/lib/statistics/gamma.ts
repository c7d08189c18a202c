// Lanczos approximation, g = 7, n = 9: 15 significant digits. Source: Numerical Recipes, 3rd edition, section 6.1.
const LANCZOS = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
  12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
];
const HALF_LN_2PI = 0.5 * Math.log(2 * Math.PI);

/** The natural logarithm of the gamma function, for `x` above 0. */
export function lnGamma(x: number): number {
  if (x < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * x)) - lnGamma(1 - x);
  const shifted = x - 1;
  const base = shifted + 7.5;
  let sum = LANCZOS[0] ?? 0;
  for (let index = 1; index < LANCZOS.length; index++) sum += (LANCZOS[index] ?? 0) / (shifted + index);
  return HALF_LN_2PI + (shifted + 0.5) * Math.log(base) - base + Math.log(sum);
}
