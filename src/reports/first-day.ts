import { eq, min } from 'drizzle-orm';
import { costs, type Database, rollupDaily } from '#db';
import { addDays } from '#lib/time';
import { MAX_SPAN_DAYS } from './query.ts';

/** The first day with figures or costs of an application, but no earlier than a report up to `today` can start; null if there is none. */
export async function findFirstDay(
  db: Database,
  applicationId: string,
  today: string,
): Promise<string | null> {
  const [[counted], [spent]] = await Promise.all([
    db
      .select({ day: min(rollupDaily.day) })
      .from(rollupDaily)
      .where(eq(rollupDaily.applicationId, applicationId)),
    db
      .select({ day: min(costs.day) })
      .from(costs)
      .where(eq(costs.applicationId, applicationId)),
  ]);
  const days = [counted?.day, spent?.day].filter((day) => typeof day === 'string').sort();
  const earliest = addDays(today, 1 - MAX_SPAN_DAYS);
  const [first] = days;
  return first === undefined ? null : first < earliest ? earliest : first;
}
