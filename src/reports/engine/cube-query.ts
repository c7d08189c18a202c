import {
  attributionOf,
  groupedAs,
  isSegmentDimension,
  type RollupTable,
  SEGMENT_DIMENSIONS,
  storedValue,
} from '#catalogue';
import { findCreativeIds } from '#creatives';
import { database } from '#db';
import {
  type CubeStores,
  type Grain,
  keyColumns,
  type PartQuery,
  type PartSelection,
  readParts,
  sumColumnsOf,
} from '#rollup';
import { type DimensionName, isBySegment, isNamed } from '../dimensions.ts';
import { isByCreative } from '../filters.ts';
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

/** By whether rows are needed by creative, and by segment. */
const GRAIN_OF: Readonly<Record<`${boolean}/${boolean}`, Grain>> = {
  'false/false': 'total',
  'false/true': 'segment',
  'true/false': 'creative',
  'true/true': 'both',
};

/** Reads the rows of a rollup that match the filters. Sums by hour come in the order of those by day, with which they are added up. */
export async function* scanCube(stores: CubeStores, scan: CubeScan): AsyncGenerator<Chunk> {
  yield* readParts(stores, await cubeQuery(stores, scan));
}

async function cubeQuery({ DB }: CubeStores, scan: CubeScan): Promise<PartQuery> {
  const { applicationId, rollup, from, to, filters, names, sums = sumColumnsOf(rollup) } = scan;
  const byCreative = names.some(isNamed) || isByCreative(filters);
  const segments = names.filter(isSegmentDimension);
  const creativeIds = isByCreative(filters)
    ? new Set(await findCreativeIds(database(DB), applicationId, filters))
    : null;
  const grain = GRAIN_OF[`${byCreative}/${segments.length > 0 || isBySegment(filters)}`];
  const inOrder = sumColumnsOf(rollup === 'rollup_hours' ? 'rollup_daily' : rollup);
  const selection = {
    segments,
    sums: inOrder.map((name) => (sums.includes(name) ? name : null)),
    filters: filtersOf(scan, keyColumns(rollup, grain), creativeIds),
  };
  return { applicationId, rollup, grain, from, to, selection };
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
  const ofSegments = SEGMENT_DIMENSIONS.map((name) => {
    const wanted =
      filters[name] && new Set(filters[name].map((value) => groupedAs(name, storedValue(value))));
    return [name, wanted && ((own: string) => wanted.has(groupedAs(name, own)))] as const;
  });
  return new Map([
    ...columns.flatMap((name) => (ofKeys[name] ? [[name, ofKeys[name]] as const] : [])),
    ...ofSegments.flatMap(([name, isWanted]) => (isWanted ? [[name, isWanted] as const] : [])),
  ]);
}
