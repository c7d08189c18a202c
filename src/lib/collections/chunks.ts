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

/** Items as JSON arrays, in order, of at most `max` characters unless a single item is longer; none if there are no items. */
export function* jsonChunks(items: Iterable<unknown>, max: number): Generator<string> {
  let texts: string[] = [];
  let size = 0;
  for (const item of items) {
    const text = JSON.stringify(item);
    if (size + text.length > max && texts.length > 0) {
      yield `[${texts.join(',')}]`;
      [texts, size] = [[], 0];
    }
    texts.push(text);
    size += text.length + 1;
  }
  if (texts.length > 0) yield `[${texts.join(',')}]`;
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
