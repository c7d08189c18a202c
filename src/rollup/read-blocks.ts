import { and, between, desc, eq, sum } from 'drizzle-orm';
import type { RollupTable } from '#catalogue';
import { database, isAmong, segmentBlocks } from '#db';
import { spanOf } from './breakdown.ts';

/** The size of a page of blocks. Two pages are in memory at once, besides the sums. */
const MAX_PAGE_BYTES = 4_000_000;

type BlockQuery = {
  applicationId: string;
  rollup: RollupTable;
  buckets: readonly number[];
  /** The requested days. Blocks may also contain other days of their span. */
  from: string;
  to: string;
};
type Page = { from: string; to: string; buckets: readonly number[] };

/** Reads the blocks of these days and buckets in pages, latest span first. */
export async function* readBlockPages(
  d1: D1Database,
  query: BlockQuery,
  maxBytes = MAX_PAGE_BYTES,
): AsyncGenerator<string[]> {
  const pages = await planPages(d1, query, maxBytes);
  let next = pages[0] && readPage(d1, query, pages[0]);
  for (let index = 1; next; index++) {
    const page = await next;
    const following = pages[index];
    // The next page loads while the caller adds up this one.
    next = following && readPage(d1, query, following);
    // A caller that stops early never awaits it, so a failure must not be unhandled.
    next?.catch(() => undefined);
    yield page;
  }
}

async function planPages(d1: D1Database, query: BlockQuery, maxBytes: number): Promise<Page[]> {
  const { fromDay, bytes } = segmentBlocks;
  const days = await database(d1)
    .select({ day: fromDay, bytes: sum(bytes).mapWith(Number) })
    .from(segmentBlocks)
    .where(within(query, { ...query, from: spanOf(query.rollup)(query.from) }))
    .groupBy(fromDay)
    .orderBy(desc(fromDay));
  const pages: Page[] = [];
  let [page, size]: [Page | null, number] = [null, 0];
  for (const { day, bytes: own } of days) {
    if (page && size + own <= maxBytes) {
      page.from = day;
      size += own;
      continue;
    }
    // A day larger than a page is read bucket by bucket.
    const isLarge = own > maxBytes;
    if (isLarge) for (const one of query.buckets) pages.push({ from: day, to: day, buckets: [one] });
    page = isLarge ? null : { from: day, to: day, buckets: query.buckets };
    size = own;
    if (page) pages.push(page);
  }
  return pages;
}

async function readPage(d1: D1Database, query: BlockQuery, page: Page): Promise<string[]> {
  const rows = await database(d1)
    .select({ data: segmentBlocks.data })
    .from(segmentBlocks)
    .where(within(query, page))
    .orderBy(desc(segmentBlocks.fromDay));
  return rows.map(({ data }) => data);
}

function within({ applicationId, rollup }: BlockQuery, { from, to, buckets }: Page) {
  return and(
    eq(segmentBlocks.applicationId, applicationId),
    eq(segmentBlocks.rollup, rollup),
    isAmong(segmentBlocks.bucket, buckets),
    between(segmentBlocks.fromDay, from, to),
  );
}
