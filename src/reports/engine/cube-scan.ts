import { attributionOf, type RollupTable, SEGMENT_DIMENSIONS, type Segment } from '#catalogue';
import { findCreativeIds } from '#creatives';
import { database } from '#db';
import { givingWay } from '#http';
import {
  type CubeStores,
  type Grain,
  keyColumns,
  type NumberedColumn,
  type OpenPart,
  PartSegments,
  readParts,
  sumColumnsOf,
  type TakeEntries,
} from '#rollup';
import { isBySegment } from '../dimensions.ts';
import { isByCreative, storedValue } from '../filters.ts';
import type { ReportFilters } from '../query.ts';
import type { Chunk } from './chunk.ts';

export type CubeScan = {
  applicationId: string;
  rollup: RollupTable;
  /** The days; for a rollup of cohorts, the acquisition days. */
  from: string;
  to: string;
  filters: ReportFilters;
  /** Whether rows are needed by creative. Otherwise rows have all creatives together, by attribution, and far fewer are read. */
  byCreative: boolean;
  /** Whether rows are needed by segment. */
  bySegment: boolean;
  /** Of figures by hour: the last day ends at this hour of the clock. */
  untilHour?: number | undefined;
  /** Of a rollup of cohorts: the last day whose revenue is read. */
  through?: string | undefined;
};

/** Figures by hour have some of the sums of a day, and are added up with them. */
const HOURLY = sumColumnsOf('rollup_daily').map((name) => sumColumnsOf('rollup_hours').indexOf(name));
const asDaily = (part: OpenPart): OpenPart => ({ ...part, sums: HOURLY.map((at) => part.sums[at] ?? null) });

/** By whether rows are needed by creative, and by segment. */
const GRAIN_OF: Readonly<Record<`${boolean}/${boolean}`, Grain>> = {
  'false/false': 'total',
  'false/true': 'segment',
  'true/false': 'creative',
  'true/true': 'both',
};

/** After adding up so many rows, which takes some milliseconds, a report gives way to other requests. */
const ROWS_PER_TURN = 5_000;

/**
 * Reads the rows of a rollup that match the filters from the cube, those parts with the latest days first. The same key and segment may come
 * several times, and a part may have several days.
 */
export async function* scanCube(
  stores: CubeStores,
  scan: CubeScan,
  pageCharacters?: number,
): AsyncGenerator<Chunk> {
  const { applicationId, rollup, from, to, filters, untilHour, through } = scan;
  const bySegment = scan.bySegment || isBySegment(filters);
  const byCreative = scan.byCreative || isByCreative(filters);
  const creativeIds = isByCreative(filters)
    ? new Set(await findCreativeIds(database(stores.DB), applicationId, filters))
    : null;
  const grain = GRAIN_OF[`${byCreative}/${bySegment}`];
  const columns = keyColumns(rollup, grain);
  const { attribution } = filters;
  const isWanted: Readonly<Record<string, ((value: string) => boolean) | undefined>> = {
    day: through === undefined ? undefined : (day) => day <= through,
    [columns[0] ?? '']: (day) => day >= from && day <= to,
    // An hour is text such as `2026-11-01T01:00:00-04:00`.
    hour:
      untilHour === undefined ? undefined : (hour) => hour < `${to}T${String(untilHour).padStart(2, '0')}`,
    attribution: attribution ? (own) => own === attribution : undefined,
    creative_id:
      creativeIds || attribution
        ? (id) => (!creativeIds || creativeIds.has(id)) && (!attribution || attributionOf(id) === attribution)
        : undefined,
  };
  const known = new PartSegments();
  const giveWay = givingWay();
  let rows = 0;
  for await (const stored of readParts(stores, { ...scan, grain }, pageCharacters)) {
    const part = rollup === 'rollup_hours' ? asDaily(stored) : stored;
    const { segments, numbers } = known.in(part);
    const wanted = wantedRows(
      part,
      columns.map((name) => isWanted[name]),
      segmentsWanted(segments, filters),
      numbers,
    );
    if (wanted?.length === 0) continue;
    yield {
      isOfCosts: false,
      day: latestIn(part.keys[0], to),
      columns,
      values: part.keys.map(({ values }) => values),
      segments,
      read: (take) => readRows(part, numbers, wanted, take),
    };
    rows += part.size;
    if (rows < ROWS_PER_TURN) continue;
    rows = 0;
    await giveWay();
  }
}

const latestIn = (days: NumberedColumn | undefined, to: string) =>
  (days?.values ?? []).reduce((latest, day) => (day > latest && day <= to ? day : latest), '');

/** Marks the wanted ones among values with 1; null if all are wanted. */
function flagsOf<Value>(values: readonly Value[], isWanted: (value: Value) => boolean): Uint8Array | null {
  const flags = Uint8Array.from(values, (value) => (isWanted(value) ? 1 : 0));
  return flags.includes(0) ? flags : null;
}

/** The segments that match the filters; null if all do. */
function segmentsWanted(segments: readonly Segment[], filters: ReportFilters): Uint8Array | null {
  if (!isBySegment(filters)) return null;
  const wanted = SEGMENT_DIMENSIONS.flatMap((name) => {
    const values = filters[name];
    return values ? [{ name, values: new Set(values.map(storedValue)) }] : [];
  });
  return flagsOf(segments, (segment) => wanted.every(({ name, values }) => values.has(segment[name])));
}

/** The rows that all filters want; null if these are all. */
function wantedRows(
  { size, keys }: OpenPart,
  filters: readonly (((value: string) => boolean) | undefined)[],
  ofSegments: Uint8Array | null,
  segments: Int32Array,
): Int32Array | null {
  const flags = keys.flatMap(({ values, numbers }, at) => {
    const isWanted = filters[at];
    const own = isWanted ? flagsOf(values, isWanted) : null;
    return own ? [{ own, numbers }] : [];
  });
  if (ofSegments) flags.push({ own: ofSegments, numbers: segments });
  if (flags.length === 0) return null;
  const rows = new Int32Array(size);
  let count = 0;
  for (let row = 0; row < size; row++) {
    if (flags.every(({ own, numbers }) => own[numbers[row] ?? 0] === 1)) rows[count++] = row;
  }
  return rows.subarray(0, count);
}

function readRows(part: OpenPart, segments: Int32Array, wanted: Int32Array | null, take: TakeEntries): void {
  const { size, keys, sums } = part;
  if (!wanted) {
    take({ size, keys: keys.map(({ numbers }) => numbers), segments, sums });
    return;
  }
  take({
    size: wanted.length,
    keys: keys.map(({ numbers }) => chosen(numbers, wanted, new Int32Array(wanted.length))),
    segments: chosen(segments, wanted, new Int32Array(wanted.length)),
    sums: sums.map((column) => column && chosen(column, wanted, new Float64Array(wanted.length))),
  });
}

function chosen<Column extends Int32Array | Float64Array>(
  column: Column,
  rows: Int32Array,
  into: Column,
): Column {
  for (let at = 0; at < rows.length; at++) into[at] = column[rows[at] ?? 0] ?? 0;
  return into;
}
