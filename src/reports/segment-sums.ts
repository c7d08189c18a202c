import { database } from '#db';
import { invalidRequest } from '#http';
import { DayRates } from './day-rates.ts';
import { isNamed } from './dimensions.ts';
import { isByCreative } from './filters.ts';
import { readCreativeNames } from './names.ts';
import type { Reported } from './query.ts';
import { Groups } from './segment-groups.ts';
import { MAX_GROUPS, rollupFor, type SegmentedSums, type SegmentQuestion } from './segment-question.ts';
import { Ranking } from './segment-ranking.ts';
import { scanSegments } from './segment-scan.ts';

// The performance report by country, OS or app version: its groups are added up from the blocks that break a rollup down.

const MAX_PASSES = 16;

/**
 * Adds up the groups of a report and ranks them like `rankGroups`, but by revenue at the rate of each day.
 * Throws `invalid_request` if there are too many groups even for `MAX_PASSES` passes.
 */
export async function readSegmentedSums(
  db: D1Database,
  application: Reported,
  asked: SegmentQuestion,
): Promise<SegmentedSums> {
  const creatives = asked.names.some(isNamed)
    ? await readCreativeNames(database(db), application.id)
    : new Map();
  const { maxGroups = MAX_GROUPS } = asked;
  for (let passes = 1; passes <= MAX_PASSES; passes *= 2) {
    const ranking = new Ranking(asked);
    const rates = new DayRates(db, application, asked);
    let pass = 0;
    for (; pass < passes; pass++) {
      const groups = new Groups(asked, { pass, passes, creatives, rates });
      await scanSegments(db, scanOf(application, asked), groups);
      if (groups.isFull()) break;
      ranking.take(groups);
    }
    if (pass < passes) continue;
    return { ...ranking.sums(), missing: rates.missing };
  }
  const message = `has more than ${maxGroups * MAX_PASSES} groups in this period; ask for fewer days or add a filter`;
  throw invalidRequest([{ path: 'group_by', message }]);
}

const scanOf = ({ id }: Reported, { names, from, to, filters }: SegmentQuestion) => ({
  applicationId: id,
  rollup: rollupFor(names),
  from,
  to,
  filters,
  byCreative: names.some(isNamed) || isByCreative(filters),
});
