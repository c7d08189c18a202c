/** Trials that one search may take; beyond, the search is given up, to be repeated among fewer items. */
const MAX_TRIALS = 100;

export class TooManyTrialsError extends Error {}

/**
 * Of items that failed together, those that fail alone: some `2 × log2(n)` trials for each. Nothing is left out on suspicion,
 * so an item that fails only together with others is not among them.
 */
export async function findPoison<Item>(
  items: readonly Item[],
  fails: (part: readonly Item[]) => Promise<boolean>,
): Promise<Item[]> {
  let trials = 0;
  const tryOut = async (part: readonly Item[]) => {
    if (++trials > MAX_TRIALS) throw new TooManyTrialsError(`more than ${MAX_TRIALS} trials`);
    return fails(part);
  };
  const poison: Item[] = [];
  const waiting: (readonly Item[])[] = [items];
  for (let part = waiting.pop(); part; part = waiting.pop()) {
    // The whole is known to fail, unless it is the single item that this search is about.
    if ((part !== items || items.length === 1) && !(await tryOut(part))) continue;
    if (part.length === 1) poison.push(...part);
    else {
      const middle = Math.ceil(part.length / 2);
      waiting.push(part.slice(middle), part.slice(0, middle));
    }
  }
  return poison;
}
