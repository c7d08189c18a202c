/** How many characters must be added, removed or replaced to turn one text into the other. */
function distance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (const [at, character] of [...left].entries()) {
    let diagonal = at;
    const next = [at + 1];
    for (const [other, known] of [...right].entries()) {
      const above = row[other + 1] ?? 0;
      const replaced = diagonal + (character === known ? 0 : 1);
      next.push(Math.min(replaced, above + 1, (next[other] ?? 0) + 1));
      diagonal = above;
    }
    row = next;
  }
  return row[right.length] ?? 0;
}

/** Longer names are compared by their beginning, because the cost grows with the length. */
const MAX_LENGTH = 64;

/** The most similar of some names, the first of several; undefined if there are none. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const wanted = name.slice(0, MAX_LENGTH).toLowerCase();
  let best: { name: string; distance: number } | undefined;
  for (const candidate of known) {
    const own = distance(wanted, candidate);
    if (!best || own < best.distance) best = { name: candidate, distance: own };
  }
  return best?.name;
}
