/** Splits items, in order, into chunks whose sizes add up to at most `max`. A larger item is a chunk of its own. */
export function chunksBySize<Item>(
  items: readonly Item[],
  max: number,
  sizeOf: (item: Item) => number,
): Item[][] {
  const chunks: Item[][] = [];
  let size = Number.POSITIVE_INFINITY;
  for (const item of items) {
    size += sizeOf(item);
    if (size > max) {
      chunks.push([]);
      size = sizeOf(item);
    }
    chunks.at(-1)?.push(item);
  }
  return chunks;
}

/** Splits items, in order, into chunks of this size. */
export function* chunksOf<Item>(items: Iterable<Item>, size: number): Generator<Item[]> {
  let chunk: Item[] = [];
  for (const item of items) {
    if (chunk.push(item) < size) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}
