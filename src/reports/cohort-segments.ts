import type { RollupTable } from '#catalogue';
import { database } from '#db';
import { type CohortGrouping, keyPartOf } from './cohorts.ts';
import { type Cut, REST } from './cut.ts';
import { isOfCreatives } from './device-groups.ts';
import { type CreativeNames, readCreativeNames } from './names.ts';
import type { ReportFilters } from './query.ts';
import { type RowKey, type ScannedSegment, scanSegments } from './segment-scan.ts';

/** Takes the rows of a cohort table by segment. `Place`: where the sums of a row go. */
export type CohortReader<Place> = {
  /** Null for a row that is not wanted. */
  placeOf(key: RowKey): Place | null;
  /** `label`: the key of the cohort, as `cohortKeys` makes it in SQL. `sums`: in the order of `sumColumnsOf`, used again. */
  add(place: Place, label: string, sums: Float64Array): void;
};

export type CohortScan = {
  applicationId: string;
  rollup: Extract<RollupTable, 'cohort_activity' | 'cohort_revenue'>;
  query: CohortGrouping & { from: string; to: string };
  filters: ReportFilters;
  /** Cohorts without a row of their own share the label `REST`. */
  cut: Cut | null;
};

/** Reads a cohort table by segment, for the retention and lifetime value of some segments or by one of their values. */
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
  // Each label is made once: by the part of the calendar, then by the value that the cohorts are grouped by.
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

/** The value of a map's key, made where there is none. */
export function getOrMake<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}
