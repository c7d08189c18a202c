import { eq, sql } from 'drizzle-orm';
import { FLOODING, measureSourceDays, type SourceDayFacts } from '#catalogue';
import { queryDoubts, settleCounters } from '#counting';
import { applications, database, rollupDaily } from '#db';
import { logError } from '#lib/log';
import { addDays, type DayRange, dayIn } from '#lib/time';
import { PerformanceQuery, reportPerformance } from '../performance.ts';
import type { Reported } from '../query.ts';

/** The days of creatives that have enough clicks to be judged, the most clicks first. */
async function readSources(env: Env, application: Reported, days: DayRange, now: number) {
  const query = PerformanceQuery.parse({
    ...{ application_id: application.id, group_by: 'day,creative' },
    ...days,
  });
  const report = await reportPerformance(env, application, { ...query, metrics: ['clicks'] }, now);
  return report.data
    .flatMap(({ day, creative, creative_id, clicks }) =>
      creative_id && (clicks ?? 0) >= FLOODING.minClicks
        ? [
            {
              day: String(day),
              creative: typeof creative === 'string' ? creative : null,
              creativeId: String(creative_id),
              clicks: clicks ?? 0,
            },
          ]
        : [],
    )
    .sort((left, right) => right.clicks - left.clicks)
    .slice(0, FLOODING.maxDays);
}

/** Measures the days of an application's creatives against each other. `judged` is empty if there are too few; `sources` is their number. */
export async function measureSources(env: Env, application: Reported, days: DayRange, now: number) {
  const sources = await readSources(env, application, days, now);
  if (sources.length < FLOODING.minDays) return { sources: sources.length, judged: [] };
  const { delays } = await queryDoubts(env, application, {
    ...{ cohort: days, filter: {}, groupBy: null, settings: {}, judged: [] },
    sources: sources.map(({ creativeId, day }) => ({ creativeId, day })),
  });
  const measured = measureSourceDays(
    sources.map((source, index) => ({ ...source, delays: delays[index]?.delays ?? [] })),
  );
  const judged = (measured ?? []).flatMap((facts, index) => {
    const source = sources[index];
    return source ? [{ creative: source.creative, creativeId: source.creativeId, facts }] : [];
  });
  return { sources: sources.length, judged };
}

/** The days that the day before is compared with, itself included. */
const COMPARED_DAYS = 7;
const APPLICATIONS_PER_RUN = 20;

/**
 * Judges the creatives of applications by the day before, for the installs of today, once per day and application. Reads counters only for
 * applications with a day that may have to be judged. One that fails is logged and tried again by the next run.
 */
export async function judgeSources(env: Env, now: number): Promise<void> {
  const db = database(env.DB);
  const first = addDays(dayIn('UTC', now), -2);
  const busy = await db
    .select()
    .from(applications)
    .where(
      sql`EXISTS (SELECT 1 FROM ${rollupDaily} WHERE ${rollupDaily.applicationId} = ${applications.id}
        AND ${rollupDaily.day} >= ${first} AND ${rollupDaily.clicks} >= ${FLOODING.minClicks})`,
    );
  const due = busy
    .map((application) => ({ application, day: addDays(dayIn(application.timezone, now), -1) }))
    .filter(({ application, day }) => application.judgedSources?.day !== day)
    .slice(0, APPLICATIONS_PER_RUN);
  for (const { application, day } of due) {
    try {
      await settleCounters(env, application);
      const days = { from: addDays(day, 1 - COMPARED_DAYS), to: day };
      const { judged } = await measureSources(env, application, days, now);
      const creatives: Record<string, SourceDayFacts> = Object.fromEntries(
        judged.flatMap(({ creativeId, facts }) => (facts.day === day ? [[creativeId, facts]] : [])),
      );
      await db
        .update(applications)
        .set({ judgedSources: { day, creatives } })
        .where(eq(applications.id, application.id));
    } catch (error) {
      logError('sources not judged', error, { application_id: application.id });
    }
  }
}
