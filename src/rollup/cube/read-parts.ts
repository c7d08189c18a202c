import { sql } from 'drizzle-orm';
import { type RollupTable, SEGMENT_DIMENSIONS, type SegmentDimension } from '#catalogue';
import { cubeParts, database } from '#db';
import { givingWay } from '#http';
import { sumColumnsOf } from '../tables.ts';
import { type CubePlace, type Grain, keyColumns, segmentColumns } from './grains.ts';
import { type Listed, type ListedPart, listParts, MAX_PAGE_CHARACTERS, pagesOf } from './list-parts.ts';
import { matchingRows } from './matching-rows.ts';
import { type ReadableBucket, readMonth } from './month-file.ts';
import { PartCache } from './part-cache.ts';
import { type ColumnSource, isText, type PartColumn, PartFile, type TextColumn } from './part-file.ts';
import { type NumberedColumn, type OpenPart, PartSegments } from './part-segments.ts';

const KEPT = new PartCache();

/** Where the cube is: recent months in the database, the others in the bucket. */
export type CubeStores = { DB: D1Database; RAW_EVENTS: ReadableBucket };

export type PartQuery = CubePlace & {
  /** The requested days; of a rollup of cohorts, days of acquisition. Parts may also have other days. */
  from: string;
  to: string;
  /** Everything if absent. */
  selection?: PartSelection;
};

/** After adding up so many rows, which takes some milliseconds, a report gives way to other requests. */
const ROWS_PER_TURN = 5_000;

/**
 * Reads the parts that have rows of these days, those with the latest first. A row group of a month is a part, too. The same key and segment may
 * come several times, and a part may have several days.
 */
export async function* readParts(
  stores: CubeStores,
  query: PartQuery,
  maxCharacters = MAX_PAGE_CHARACTERS,
  cache = KEPT,
): AsyncGenerator<OpenPart> {
  const { from, to } = query;
  const parts = openListed(stores, query, await listParts(stores.DB, query, query), {
    isWanted: (days) => days.toDay >= from && days.fromDay <= to,
    maxCharacters,
    cache,
    selection: query.selection,
  });
  const giveWay = givingWay();
  let rows = 0;
  for await (const part of parts) {
    if (part.size > 0) yield part;
    rows += part.searched;
    if (rows < ROWS_PER_TURN) continue;
    rows = 0;
    await giveWay();
  }
}

type PartDays = { fromDay: string; toDay: string };
type PartReadOptions = {
  /** Asked right before something is read, and once more for each row group of a month. */
  isWanted: (days: PartDays) => boolean;
  maxCharacters?: number;
  /** Keeps columns of parts of the database. */
  cache?: PartCache;
  /** Everything if absent. */
  selection?: PartSelection | undefined;
  /** Numbers the segments. */
  known?: PartSegments;
};

/** Opens parts and months in their order. The next ones load while the caller adds up these. */
export async function* openListed(
  stores: CubeStores,
  place: CubePlace,
  listed: readonly Listed[],
  reading: PartReadOptions,
): AsyncGenerator<OpenPart> {
  for await (const open of ahead(load(stores, place, listed, reading))) {
    for (const part of open) yield await part();
  }
}

type OpenLater = () => Promise<OpenPart>;

async function* load(
  { DB, RAW_EVENTS }: CubeStores,
  place: CubePlace,
  listed: readonly Listed[],
  {
    isWanted,
    maxCharacters = MAX_PAGE_CHARACTERS,
    cache = new PartCache(0),
    selection,
    known,
  }: PartReadOptions,
): AsyncGenerator<OpenLater[]> {
  const { rollup, grain } = place;
  const selector = new RowSelector(rollup, grain, selection ?? selectAll(rollup, grain), known);
  const select = (source: ColumnSource) => selector.open(source);
  const keep = cache.keeper();
  for (const page of pagesOf(listed, maxCharacters)) {
    const parts = page.flatMap((one) => (one.kind === 'part' && isWanted(one) ? [one] : []));
    const kept = new Map(parts.map((part) => [part, cache.get(nameOf(place, part))]));
    const lacks = (part: ListedPart) => !selector.columns.every((name) => kept.get(part)?.columns.has(name));
    const texts = await readTexts(DB, place, parts.filter(lacks));
    yield parts.flatMap((part): OpenLater[] => {
      const [own, data] = [kept.get(part), texts.get(part)];
      if (data !== undefined) {
        return [
          async () => {
            const source = await PartFile.open(data, own);
            const open = select(source);
            keep(nameOf(place, part), source);
            return open;
          },
        ];
      }
      if (!own || lacks(part)) return [];
      return [async () => select({ size: own.size, read: () => own.columns })];
    });
    for (const one of page) {
      if (one.kind === 'month' && isWanted(one)) {
        yield* readMonth(RAW_EVENTS, place, one, { isWanted, open: select });
      }
    }
  }
}

const nameOf = (
  { applicationId, rollup, grain }: CubePlace,
  { toDay, shard, sequence, number, bytes }: ListedPart,
) => [applicationId, rollup, grain, toDay, shard, sequence, number, bytes].join('/');

/** Reads parts by their keys, also those that were replaced meanwhile. Those that are there no more are missing. */
export async function readTexts(
  d1: D1Database,
  { applicationId, rollup, grain }: CubePlace,
  parts: readonly ListedPart[],
): Promise<Map<ListedPart, string>> {
  if (parts.length === 0) return new Map();
  const { toDay, shard, sequence, number } = cubeParts;
  const rows = await database(d1).all<{ at: number; data: string }>(
    sql`SELECT listed.key AS at, ${cubeParts.data} AS data FROM json_each(${JSON.stringify(parts)}) AS listed CROSS JOIN ${cubeParts}
      WHERE ${cubeParts.applicationId} = ${applicationId} AND ${cubeParts.rollup} = ${rollup} AND ${cubeParts.grain} = ${grain}
        AND ${toDay} = listed.value ->> 'toDay' AND ${shard} = listed.value ->> 'shard'
        AND ${sequence} = listed.value ->> 'sequence' AND ${number} = listed.value ->> 'number'`,
  );
  return new Map(
    rows.flatMap(({ at, data }): [ListedPart, string][] => {
      const part = parts[at];
      return part ? [[part, data]] : [];
    }),
  );
}

/** Takes each value one step early. A caller that stops early never awaits the last one. */
async function* ahead<Value>(values: AsyncGenerator<Value>): AsyncGenerator<Value> {
  let next = values.next();
  for (;;) {
    const taken = await next;
    if (taken.done) return;
    next = values.next();
    next.catch(() => undefined);
    yield taken.value;
  }
}

/** What a reader wants of parts, besides their keys. */
export type PartSelection = {
  segments: readonly SegmentDimension[];
  /** Columns of sums in the order in which they are wanted; null for one that is not needed. */
  sums: readonly (string | null)[];
  /** By column: which of its texts rows must have. */
  filters: ReadonlyMap<string, (text: string) => boolean>;
};

const selectAll = (table: RollupTable, grain: Grain): PartSelection => ({
  segments: segmentColumns(grain),
  sums: sumColumnsOf(table),
  filters: new Map(),
});

/** Opens all of a part. Throws if the text is none. */
export const openPart = async (
  table: RollupTable,
  grain: Grain,
  text: string,
  known?: PartSegments,
): Promise<OpenPart> =>
  new RowSelector(table, grain, selectAll(table, grain), known).open(await PartFile.open(text));

const NO_TEXTS: TextColumn = { values: [''], numbers: null };
const textsOf = (column: PartColumn | undefined): TextColumn => (isText(column) ? column : NO_TEXTS);

/** Selects rows of one part after another. What it returns is overwritten by the next part: new arrays for each took a quarter of a scan. */
export class RowSelector {
  private readonly table: RollupTable;
  private readonly grain: Grain;
  private readonly selection: PartSelection;
  private readonly known: PartSegments;
  /** The columns that it needs. */
  readonly columns: readonly string[];
  private readonly numbers = new Map<string, Int32Array>();
  private readonly sums = new Map<string, Float64Array>();

  constructor(table: RollupTable, grain: Grain, selection: PartSelection, known = new PartSegments()) {
    this.table = table;
    this.grain = grain;
    this.selection = selection;
    this.known = known;
    const { segments, filters } = selection;
    const sums = selection.sums.filter((name) => name !== null);
    this.columns = [...new Set([...keyColumns(table, grain), ...segments, ...sums, ...filters.keys()])];
  }

  /** Reads the columns that are filtered by first: if no row matches, the others are not read. */
  open(source: ColumnSource): OpenPart {
    const { segments, sums, filters } = this.selection;
    const { size: searched } = source;
    const filtered = source.read([...filters.keys()]);
    let rows: Int32Array | null = null;
    for (const [name, isWanted] of filters) {
      rows = matchingRows(searched, textsOf(filtered.get(name)), isWanted, rows);
    }
    const size = rows?.length ?? searched;
    const columns = size === 0 ? filtered : source.read(this.columns);
    const first = new Int32Array(size);
    const numberedOf = (name: string): NumberedColumn => {
      const { values, numbers } = textsOf(columns.get(name));
      return {
        values,
        numbers: numbers ? taken(numbers, rows, arrayOf(this.numbers, name, size, Int32Array)) : first,
      };
    };
    const sumsOf = (name: string) => {
      const column = columns.get(name);
      return column && !isText(column)
        ? taken(column, rows, arrayOf(this.sums, name, size, Float64Array))
        : null;
    };
    return {
      size,
      searched,
      columns: new Map(keyColumns(this.table, this.grain).map((name) => [name, numberedOf(name)])),
      segments: this.known.in(
        size,
        SEGMENT_DIMENSIONS.map((name) => numberedOf(segments.includes(name) ? name : '')),
      ),
      sums: sums.map((name) => (name === null ? null : sumsOf(name))),
    };
  }
}

/** An array of this size, of which the next part takes the memory. */
function arrayOf<Numbers extends Int32Array | Float64Array>(
  known: Map<string, Numbers>,
  name: string,
  size: number,
  Type: new (size: number) => Numbers,
): Numbers {
  let array = known.get(name);
  if (!array || array.length < size) {
    array = new Type(size);
    known.set(name, array);
  }
  return array.subarray(0, size) as Numbers;
}

function taken<Into extends Int32Array | Float64Array>(
  column: ArrayLike<number>,
  rows: Int32Array | null,
  into: Into,
): Into {
  if (!rows) into.set(column);
  else for (let at = 0; at < rows.length; at++) into[at] = column[rows[at] ?? 0] ?? 0;
  return into;
}
