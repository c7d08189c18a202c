import { attributionOf, isSegmentDimension, type RollupTable, SEGMENT_DIMENSIONS } from '#catalogue';
import { findCreativeIds } from '#creatives';
import { database } from '#db';
import { givingWay } from '#http';
import {
  type CubeStores,
  type Grain,
  keyColumns,
  type OpenPart,
  PartSegments,
  type PartSelection,
  readParts,
  sumColumnsOf,
} from '#rollup';
import { type DimensionName, isBySegment, isNamed } from '../dimensions.ts';
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
  /** What rows are needed by. Unless a creative is among it, rows have all creatives together, by attribution, and far fewer are read. */
  names: readonly DimensionName[];
  /** The columns of sums that are needed; all if absent. The others are null. */
  sums?: readonly string[];
  /** Of figures by hour: the last day ends at this hour of the clock. */
  untilHour?: number | undefined;
  /** Of a rollup of cohorts: the last day whose revenue is read. */
  through?: string | undefined;
  /** Of `cohort_activity`: the days since the acquisition whose rows are needed; all if absent. */
  ages?: readonly number[];
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
export async function* scanCube(stores: CubeStores, scan: CubeScan): AsyncGenerator<Chunk> {
  const { applicationId, rollup, from, to, filters, names, sums = sumColumnsOf(rollup) } = scan;
  const byCreative = names.some(isNamed) || isByCreative(filters);
  const dimensions = names.filter(isSegmentDimension);
  const creativeIds = isByCreative(filters)
    ? new Set(await findCreativeIds(database(stores.DB), applicationId, filters))
    : null;
  const grain = GRAIN_OF[`${byCreative}/${dimensions.length > 0 || isBySegment(filters)}`];
  const columns = keyColumns(rollup, grain);
  const selection = { segments: dimensions, sums, filters: filtersOf(scan, columns, creativeIds) };
  const query = { applicationId, rollup, grain, from, to, selection };
  const known = new PartSegments();
  const giveWay = givingWay();
  let rows = 0;
  for await (const stored of readParts(stores, query)) {
    const part = rollup === 'rollup_hours' ? asDaily(stored) : stored;
    const { size, keys } = part;
    if (size > 0) {
      yield {
        isOfCosts: false,
        day: latestIn(keys[0]?.values ?? [], to),
        size,
        columns: new Map(columns.flatMap((name, at) => (keys[at] ? [[name, keys[at]]] : []))),
        segments: known.in(part),
        sums: part.sums,
      };
    }
    rows += part.searched;
    if (rows < ROWS_PER_TURN) continue;
    rows = 0;
    await giveWay();
  }
}

/** By column, which values the rows of a scan must have. */
function filtersOf(
  { from, to, filters, untilHour, through, ages }: CubeScan,
  columns: readonly string[],
  creativeIds: ReadonlySet<string> | null,
): PartSelection['filters'] {
  const { attribution } = filters;
  const among = (values: readonly string[]) => {
    const wanted = new Set(values);
    return (own: string) => wanted.has(own);
  };
  const ofKeys: Readonly<Record<string, ((value: string) => boolean) | undefined>> = {
    day: through === undefined ? undefined : (day) => day <= through,
    [columns[0] ?? '']: (day) => day >= from && day <= to,
    // An hour is text such as `2026-11-01T01:00:00-04:00`.
    hour:
      untilHour === undefined ? undefined : (hour) => hour < `${to}T${String(untilHour).padStart(2, '0')}`,
    age: ages && among(ages.map(String)),
    attribution: attribution ? (own) => own === attribution : undefined,
    creative_id:
      creativeIds || attribution
        ? (id) => (!creativeIds || creativeIds.has(id)) && (!attribution || attributionOf(id) === attribution)
        : undefined,
  };
  const ofSegments = SEGMENT_DIMENSIONS.map((name) => [name, filters[name]?.map(storedValue)] as const);
  return new Map([
    ...columns.flatMap((name) => (ofKeys[name] ? [[name, ofKeys[name]] as const] : [])),
    ...ofSegments.flatMap(([name, values]) => (values ? [[name, among(values)] as const] : [])),
  ]);
}

const latestIn = (days: readonly string[], to: string) =>
  days.reduce((latest, day) => (day > latest && day <= to ? day : latest), '');
