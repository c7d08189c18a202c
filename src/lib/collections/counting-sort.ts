/** Sorts by a number below `limit`, in linear time. What has the same number stays in its order, so that sorting by several numbers starts with the last. */
export function sortedBy(list: Uint32Array, numberOf: (item: number) => number, limit: number): Uint32Array {
  const numbers = list.map(numberOf);
  const ends = new Uint32Array(limit);
  for (const number of numbers) ends[number] = (ends[number] ?? 0) + 1;
  for (let number = 1; number < limit; number++) ends[number] = (ends[number] ?? 0) + (ends[number - 1] ?? 0);
  const sorted = new Uint32Array(list.length);
  for (let at = list.length - 1; at >= 0; at--) {
    const number = numbers[at] ?? 0;
    const end = (ends[number] ?? 0) - 1;
    ends[number] = end;
    sorted[end] = list[at] ?? 0;
  }
  return sorted;
}
