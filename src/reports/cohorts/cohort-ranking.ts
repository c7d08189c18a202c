import { type DimensionName, isNamed } from '../dimensions.ts';
import type { Chunk } from '../engine/chunk.ts';
import { GroupCells, type GroupPeriod } from '../engine/group-cells.ts';
import { type CreativeNames, isKnownName } from '../names.ts';
import { ACTIVE_AT } from './cohort-activity.ts';
import { CohortPlaces, NO_GROUP, REST_ROW } from './cohort-places.ts';

type RankedCohort = { span: GroupPeriod; values: readonly (string | null)[] };

/** Ranks the cohorts of a report by the devices acquired: the latest first, of one period the largest. Then it has the places of their rows. */
export class CohortRanking {
  private readonly lookup: GroupCells;
  private readonly limit: number;
  /** By cohort. */
  private readonly sizes: number[] = [0, 0];
  /** By cohort; null for those of periods that are cut off, because enough later cohorts were found. */
  private readonly cohorts: (RankedCohort | null)[] = [null, null];
  /** By cohort, once they are ranked. */
  private rows = new Int32Array(0);
  private readonly namedAt: number;

  constructor(names: readonly DimensionName[], creatives: CreativeNames, limit: number) {
    this.limit = limit;
    this.namedAt = names.findIndex(isNamed);
    this.lookup = new GroupCells(names, creatives, {
      group: (values, span) => {
        // Costs of a campaign, ad set or creative that the application does not have are of no cohort.
        const name = values[this.namedAt] ?? '';
        if (name !== '' && !isKnownName(name)) return NO_GROUP;
        this.cohorts.push(span.isCutOff ? null : { span, values });
        return this.sizes.push(0) - 1;
      },
      span: (span) => {
        span.isCutOff ||= this.isPastLimit(span);
      },
    });
  }

  /** Adds up devices on the day of their acquisition. The later the days of the first chunks, the fewer cohorts are kept. */
  async read(chunk: Chunk): Promise<void> {
    const found = await this.lookup.find(chunk, 'acquired_day', NO_GROUP);
    for (let entry = 0; entry < chunk.size; entry++) {
      this.add(found[entry] ?? NO_GROUP, chunk.sums[ACTIVE_AT]?.[entry] ?? 0);
    }
  }

  private add(cohort: number, devices: number): void {
    const before = this.sizes[cohort] ?? 0;
    this.sizes[cohort] = before + devices;
    const span = this.cohorts[cohort]?.span;
    if (span && before <= 0 && before + devices > 0) span.groups++;
  }

  private isPastLimit({ time }: GroupPeriod): boolean {
    let later = 0;
    for (const span of this.lookup.spans.values()) if (span.time > time) later += span.groups;
    return later > this.limit;
  }

  /** The values of the cohorts that have a row, in their order, and the number of cohorts that have devices. */
  rank(): { ranked: (readonly (string | null)[])[]; total: number } {
    const ranked = this.cohorts.flatMap((own, cohort) => {
      const size = this.sizes[cohort] ?? 0;
      return own && size > 0 ? [{ ...own, cohort, size, key: JSON.stringify(own.values) }] : [];
    });
    ranked.sort((left, right) => {
      const [one, other] = [left.span.values.join(), right.span.values.join()];
      if (one !== other) return one < other ? 1 : -1;
      return right.size - left.size || (left.key < right.key ? -1 : 1);
    });
    const kept = ranked.slice(0, this.limit);
    this.rows = new Int32Array(this.cohorts.length).fill(REST_ROW);
    for (const [index, { cohort }] of kept.entries()) this.rows[cohort] = index + 1;
    return {
      ranked: kept.map(({ values }) => values),
      total: this.sizes.filter((size, cohort) => cohort !== NO_GROUP && size > 0).length,
    };
  }

  /** Where the ranked cohorts have their rows. */
  places(asked: { days: readonly number[]; today: string }): CohortPlaces {
    return new CohortPlaces(asked, this.lookup, (cohort) => this.rows[cohort] ?? REST_ROW);
  }
}
