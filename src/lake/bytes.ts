/** Compares two byte strings of equal length as unsigned numbers. */
export function compareBytes(left: Uint8Array, right: Uint8Array): number {
  for (let index = 0; index < left.length; index++) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
