import { and, between, desc, eq, sql, sum } from 'drizzle-orm';
import type { RollupTable } from '#catalogue';
import { database, isAmong, segmentBlocks } from '#db';
import { murmur128 } from '#lib/murmur';
import { BlockCache } from './block-cache.ts';
import { sectionsSql } from './block-sections.ts';
import { spanOf } from './breakdown.ts';
import { openToKeep } from './kept-block.ts';
import { type OpenBlock, openBlock } from './open-block.ts';

/** The size of a page of blocks. Two pages are in memory at once, besides the sums. */
const MAX_PAGE_BYTES = 1_000_000;

type BlockQuery = {
  applicationId: string;
  rollup: RollupTable;
  buckets: readonly number[];
  /** The requested days. Blocks may also contain other days of their span. */
  from: string;
  to: string;
  /** The segments that are needed, and how many there are in all. Blocks may also have entries of others. Without it, all are needed. */
  segments?: { ids: readonly number[]; known: number } | null;
};
/** `keys` are the cache keys of the spans in it, by first day; those of spans too large for the cache are missing. */
type Page = { from: string; to: string; buckets: readonly number[]; keys: ReadonlyMap<string, string> };
/** A span of days with blocks. `key` is its key in the cache; null if it has too many blocks. */
type Span = { day: string; bytes: number; key: string | null };
type Step = Page | { blocks: Iterable<OpenBlock> };
/** The size of a page, and where to keep blocks. */
export type BlockBounds = { maxBytes: number; cache: BlockCache };

/** More blocks than this per span are soon merged, or too large to be kept. */
const MAX_CACHED_BLOCKS = 150;

/** Blocks have entries besides those of a segment: the first line. A part of a block is taken to have at least this share of its bytes. */
const MIN_SHARE = 1 / 8;
/**
 * The database searches the index of each block for each needed segment. From this many pairs of a needed and a known segment on, it takes
 * about as long as transferring whole blocks.
 */
const MAX_SEARCHED_PAIRS = 4_000;

const CACHE = new BlockCache();

/** Reads the blocks of these days and buckets in pages, latest span first. A page can be iterated once. */
export async function* readBlockPages(
  d1: D1Database,
  query: BlockQuery,
  { maxBytes, cache }: BlockBounds = { maxBytes: MAX_PAGE_BYTES, cache: CACHE },
): AsyncGenerator<Iterable<OpenBlock>> {
  const spans = await readSpans(d1, query);
  // Blocks that the cache holds are kept whole, which serves reports with other filters too.
  const isWhole = !hasSections(query) || cache.holds(bytesOf(spans));
  const asked = isWhole ? { ...query, segments: null } : query;
  const steps = planSteps(isWhole ? spans : partsOf(spans, query), asked, { maxBytes, cache });
  const take = (step: Step) => ('blocks' in step ? step.blocks : readPage(d1, asked, step, cache));
  let next = steps[0] && Promise.resolve(take(steps[0]));
  for (let index = 1; next; index++) {
    const page = await next;
    const following = steps[index];
    // The next page loads while the caller adds up this one.
    next = following && Promise.resolve(take(following));
    // A caller that stops early never awaits it, so a failure must not be unhandled.
    next?.catch(() => undefined);
    yield page;
  }
}

/** The bytes of the blocks of these days, by bucket. Buckets without blocks are missing. */
export async function readBucketBytes(d1: D1Database, query: BlockQuery): Promise<Map<number, number>> {
  const { bucket, bytes } = segmentBlocks;
  const rows = await database(d1)
    .select({ bucket, bytes: sum(bytes).mapWith(Number) })
    .from(segmentBlocks)
    .where(within(query, { ...query, from: spanOf(query.rollup)(query.from) }))
    .groupBy(bucket);
  return new Map(rows.map((row) => [row.bucket, row.bytes]));
}

/** The spans with blocks, latest first. */
async function readSpans(d1: D1Database, query: BlockQuery): Promise<Span[]> {
  const { bucket, fromDay, shard, sequence, number, bytes } = segmentBlocks;
  const keys = sql<string | null>`iif(count(*) <= ${MAX_CACHED_BLOCKS},
    group_concat(${bucket} || '.' || ${shard} || '.' || ${sequence} || '.' || ${number} || '.' || ${bytes}), NULL)`;
  const rows = await database(d1)
    .select({ day: fromDay, bytes: sum(bytes).mapWith(Number), keys })
    .from(segmentBlocks)
    .where(within(query, { ...query, from: spanOf(query.rollup)(query.from) }))
    .groupBy(fromDay)
    .orderBy(desc(fromDay));
  return rows.map(({ day, bytes: size, keys: own }) => ({
    day,
    bytes: size,
    key: own && [query.applicationId, query.rollup, day, own].join('/'),
  }));
}

const bytesOf = (spans: readonly Span[]) => spans.reduce((all, { bytes }) => all + bytes, 0);

/** Whether few enough segments are needed to read only their sections. */
function hasSections({ segments }: BlockQuery): boolean {
  if (!segments) return false;
  const { ids, known } = segments;
  return ids.length <= known / 2 && ids.length * known <= MAX_SEARCHED_PAIRS;
}

/** The spans with the bytes and the keys that they have without the sections of other segments. */
function partsOf(spans: readonly Span[], { segments }: BlockQuery): Span[] {
  const { ids = [], known = 1 } = segments ?? {};
  const share = Math.max(MIN_SHARE, ids.length / known);
  const name = murmur128(ids.join()).join('.');
  return spans.map(({ day, bytes, key }) => ({
    day,
    bytes: Math.ceil(bytes * share),
    key: key && `${key}/${name}`,
  }));
}

function planSteps(spans: readonly Span[], query: BlockQuery, { maxBytes, cache }: BlockBounds): Step[] {
  const steps: Step[] = [];
  // A scan that does not fit would displace its own blocks before they are read again.
  const isKept = cache.holds(bytesOf(spans));
  let [page, size]: [(Page & { keys: Map<string, string> }) | null, number] = [null, 0];
  for (const { day, bytes, key } of spans) {
    const block = key === null ? undefined : cache.get(key);
    if (block) {
      steps.push({ blocks: [block] });
      page = null;
      continue;
    }
    if (!page || size + bytes > maxBytes) {
      // A day larger than a page is read bucket by bucket.
      const isLarge = bytes > maxBytes;
      if (isLarge) {
        for (const one of query.buckets) steps.push({ from: day, to: day, buckets: [one], keys: new Map() });
      }
      page = isLarge ? null : { from: day, to: day, buckets: query.buckets, keys: new Map() };
      size = 0;
      if (page) steps.push(page);
    }
    if (!page) continue;
    page.from = day;
    size += bytes;
    if (key !== null && isKept) page.keys.set(day, key);
  }
  return steps;
}

async function readPage(
  d1: D1Database,
  query: BlockQuery,
  page: Page,
  cache: BlockCache,
): Promise<Iterable<OpenBlock>> {
  const data = query.segments ? sectionsSql(query.segments.ids) : segmentBlocks.data;
  const rows = await database(d1)
    .select({ day: segmentBlocks.fromDay, data })
    .from(segmentBlocks)
    .where(within(query, page))
    .orderBy(desc(segmentBlocks.fromDay));
  return openRows(query, page, rows, cache);
}

/** Opens each block when it is its turn, because an opened one takes more memory. */
function* openRows(
  { rollup }: BlockQuery,
  { keys }: Page,
  rows: readonly { day: string; data: string }[],
  cache: BlockCache,
): Generator<OpenBlock> {
  for (const [day, own] of Map.groupBy(rows, (row) => row.day)) {
    const key = keys.get(day);
    const bytes = own.reduce((all, { data }) => all + data.length, 0);
    if (key === undefined || !cache.takes(bytes)) {
      for (const { data } of own) yield openBlock(rollup, data);
    } else {
      const block = openToKeep(
        rollup,
        own.map(({ data }) => data),
        cache.share,
      );
      cache.set(key, block);
      yield block;
    }
  }
}

function within(
  { applicationId, rollup }: BlockQuery,
  { from, to, buckets }: Pick<Page, 'from' | 'to' | 'buckets'>,
) {
  return and(
    eq(segmentBlocks.applicationId, applicationId),
    eq(segmentBlocks.rollup, rollup),
    isAmong(segmentBlocks.bucket, buckets),
    between(segmentBlocks.fromDay, from, to),
  );
}
