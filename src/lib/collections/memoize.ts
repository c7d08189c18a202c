/**
 * A function that computes each result once and remembers it, for pure functions that are slower than a look-up. Forgets everything when there
 * would be more than `max` results, so that foreign input cannot fill the memory.
 */
export function memoize<Key, Result>(max: number, compute: (key: Key) => Result): (key: Key) => Result {
  const results = new Map<Key, Result>();
  return (key) => {
    let result = results.get(key);
    if (result === undefined) {
      if (results.size >= max) results.clear();
      result = compute(key);
      results.set(key, result);
    }
    return result;
  };
}
