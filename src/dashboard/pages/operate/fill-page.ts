type ItemPage<Item> = { data: readonly Item[]; next_cursor: string | null };

/**
 * A page of `size` items from a list whose own pages may be short or even empty before the last one. Reads at most `maxReads` of them; what is
 * left is behind `next_cursor`.
 */
export async function fillPage<Item>(
  read: (cursor: string, limit: number) => Promise<ItemPage<Item>>,
  { cursor, size, maxReads }: { cursor: string; size: number; maxReads: number },
): Promise<{ data: Item[]; next_cursor: string | null }> {
  const data: Item[] = [];
  let next: string | null = cursor;
  for (let reads = 0; next !== null && data.length < size && reads < maxReads; reads++) {
    const page: ItemPage<Item> = await read(next, size - data.length);
    data.push(...page.data);
    next = page.next_cursor;
  }
  return { data, next_cursor: next };
}
