import type { RollupTable } from '#catalogue';
import { nextTurn } from '#lib/next-turn';
import type { CubePlace } from '../cube/grains.ts';
import type { Listed } from '../cube/list-parts.ts';
import { addRows, type PartSegments } from '../cube/part-segments.ts';
import { type CubeStores, openListed } from '../cube/read-parts.ts';
import { Additions } from '../tables.ts';

/**
 * The sums of parts and months, those of the latest days first. Sums of the same key and segment are added up, except of a day that is too large for
 * the memory: it comes in several pieces. Reads as often as it takes to have only some days in memory at a time.
 */
export async function* mergeDays(
  stores: CubeStores,
  place: CubePlace,
  listed: readonly Listed[],
  segments: PartSegments,
  maxBytes: number,
): AsyncGenerator<Additions<RollupTable>> {
  /** Rows of this day and later ones are done. */
  let before = '9999-99-99';
  while (before !== '') {
    const days = new DaysInMemory(place, before, maxBytes);
    const isWanted = ({ fromDay, toDay }: Listed | { fromDay: string; toDay: string }) =>
      fromDay < before && toDay > days.after;
    for await (const part of openListed(stores, place, listed, { isWanted, known: segments })) {
      addRows(part, place.applicationId, days.sumsOf);
      yield* days.shrink();
      await nextTurn();
    }
    yield* days.latestFirst();
    before = days.after === '' ? '' : days.earliest;
  }
}

/** The sums of the latest days before a day, as many as fit into memory. */
class DaysInMemory {
  /** Rows of this day and earlier ones do not fit. */
  after = '';
  private readonly place: CubePlace;
  private readonly before: string;
  private readonly maxBytes: number;
  private readonly days = new Map<string, Additions<RollupTable>>();

  constructor(place: CubePlace, before: string, maxBytes: number) {
    this.place = place;
    this.before = before;
    this.maxBytes = maxBytes;
  }

  get earliest(): string {
    return [...this.days.keys()].reduce((earliest, day) => (day < earliest ? day : earliest), this.before);
  }

  readonly sumsOf = (day: string): Additions<RollupTable> | null => {
    if (day >= this.before || day <= this.after) return null;
    let sums = this.days.get(day);
    if (!sums) {
      sums = new Additions(this.place.rollup);
      this.days.set(day, sums);
    }
    return sums;
  };

  /** Gives up the earliest days until the others fit. Returns the sums of the only day that is left if it does not, and forgets them. */
  *shrink(): Generator<Additions<RollupTable>> {
    const weights = new Map([...this.days].map(([day, { weight }]) => [day, weight]));
    let total = [...weights.values()].reduce((sum, weight) => sum + weight, 0);
    while (total > this.maxBytes && this.days.size > 1) {
      const day = this.earliest;
      total -= weights.get(day) ?? 0;
      this.days.delete(day);
      this.after = day;
    }
    if (total <= this.maxBytes) return;
    for (const [day, sums] of this.days) {
      this.days.set(day, new Additions(this.place.rollup));
      yield sums;
    }
  }

  *latestFirst(): Generator<Additions<RollupTable>> {
    for (const day of [...this.days.keys()].sort().reverse()) {
      const sums = this.days.get(day);
      if (sums) yield sums;
    }
  }
}
