import { and, between, eq, sql } from 'drizzle-orm';
import { costs, database } from '#db';
import { unallocatedCondition } from '../filters.ts';
import { nanosOf } from './converted-sums.ts';
import { type CostPeriod, partsOf } from './cost-scan.ts';
import { type Unconverted, unconvertedField } from './unrated.ts';

/**
 * The field of an answer with the spend that its filters leave out, because the costs do not state what they filter by: in the currencies of
 * the costs. Empty if there is none.
 */
export async function readUnallocatedSpend(
  d1: D1Database,
  { applicationId, from, to, filters }: CostPeriod,
): Promise<{ unallocated_spend?: Unconverted }> {
  const condition = unallocatedCondition(applicationId, filters);
  if (!condition) return {};
  const { high, low } = partsOf(costs.amount);
  const rows = await database(d1)
    .select({
      currency: costs.currency,
      high: sql<number>`sum(${high})`,
      low: sql<number>`sum(${low})`,
    })
    .from(costs)
    .where(and(eq(costs.applicationId, applicationId), between(costs.day, from, to), condition))
    .groupBy(costs.currency);
  const sums = new Map(rows.map(({ currency, high, low }) => [currency, nanosOf(low, high)]));
  return unconvertedField(sums, 'unallocated_spend');
}
