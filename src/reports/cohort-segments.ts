import type { RollupTable } from '#catalogue';
import { database } from '#db';
import { type CohortGrouping, keyPartOf } from './cohorts.ts';
import { type Cut, REST } from './cut.ts';
import { isOfCreatives } from './device-groups.ts';
import { type CreativeNames, readCreativeNames } from './names.ts';
import type { ReportFilters } from './query.ts';
import { type RowKey, type ScannedSegment, scanSegments } from './segment-scan.ts';

/** Receives the rows of a cohort table by segment. A `Place` is where the sums of a row go. */
type CohortReader<Place> = {
  /** Null for a row that is not wanted. */
  placeOf(key: RowKey): Place | null;
  /**
   * `label` is the key of the cohort, as `cohortKeys` makes it in SQL. `sums` are in the order of `sumColumnsOf`; the array is reused
   * after the call.
   */
  add(place: Place, label: string, sums: Float64Array): void;
};

type CohortScan = {
  applicationId: string;
  rollup: Extract<RollupTable, 'cohort_activity' | 'cohort_revenue'>;
  query: CohortGrouping & { from: string; to: string };
  filters: ReportFilters;
  /** Cohorts without a row of their own share the label `REST`. */
  cut: Cut | null;
};

/** Reads a cohort table by segment, for retention and lifetime value that are filtered or grouped by segment. */
export async function scanCohorts<Place>(
  db: D1Database,
  { applicationId, rollup, query, filters, cut }: CohortScan,
  reader: CohortReader<Place>,
): Promise<void> {
  const { cohort, group_by: group, from, to } = query;
  const named = group !== undefined && isOfCreatives(group) ? group : null;
  const byCreative = named !== null;
  const names: CreativeNames = byCreative ? await readCreativeNames(database(db), applicationId) : new Map();
  const kept = cut && new Set<string>(JSON.parse(cut.kept));
  // Labels by calendar part, then by the value that cohorts are grouped by, so that each is made only once.
  const labels = new Map<string, Map<string, string>>();
  const labelOf = (own: Map<string, string>, part: string, value: string) => {
    let label = own.get(value);
    if (label === undefined) {
      const key = JSON.stringify([part || null, value || null]);
      label = kept && !kept.has(key) ? REST : key;
      own.set(value, label);
    }
    return label;
  };
  const nameOf = (key: RowKey) => (named ? (names.get(key('creative_id'))?.[named] ?? '') : '');
  const valueIn = ({ country, os, appVersion }: ScannedSegment) =>
    group === 'country' ? country : group === 'os' ? os : appVersion;
  const bySegment = group !== undefined && !byCreative;
  await scanSegments<{ place: Place; part: string; own: Map<string, string>; value: string }>(
    db,
    { applicationId, rollup, from, to, filters, byCreative },
    {
      row: (key) => {
        const place = reader.placeOf(key);
        if (place === null) return null;
        const part = keyPartOf(cohort)(key('acquired_day'));
        const own = labels.get(part) ?? new Map<string, string>();
        labels.set(part, own);
        return { place, part, own, value: nameOf(key) };
      },
      add: ({ place, part, own, value }, segment, sums) =>
        reader.add(place, labelOf(own, part, bySegment ? valueIn(segment) : value), sums),
    },
  );
}

/** The value of a key in a map. Creates it if it is missing. */
export function getOrMake<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}
