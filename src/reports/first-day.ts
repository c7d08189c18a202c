import { eq, min } from 'drizzle-orm';
import { costs, database } from '#db';
import { addDays } from '#lib/time';
import { readFirstDay } from '#rollup';
import { MAX_SPAN_DAYS } from './query.ts';

/** The first day with figures or costs of an application, but no earlier than a report up to `today` can start; null if there is none. */
export async function findFirstDay(
  d1: D1Database,
  applicationId: string,
  today: string,
): Promise<string | null> {
  const [counted, [spent]] = await Promise.all([
    readFirstDay(d1, applicationId),
    database(d1)
      .select({ day: min(costs.day) })
      .from(costs)
      .where(eq(costs.applicationId, applicationId)),
  ]);
  const [first] = [counted, spent?.day].filter((day) => typeof day === 'string').sort();
  const earliest = addDays(today, 1 - MAX_SPAN_DAYS);
  return first === undefined ? null : first < earliest ? earliest : first;
}
