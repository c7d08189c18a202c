import type * as z from 'zod';
import { PLAIN_METRICS } from '#catalogue';
import { AdsQuery, reportAds } from './ads.ts';
import type { Answers } from './answers.ts';
import { ClientTotalsQuery, reportClientTotals } from './client-totals.ts';
import { LtvQuery, reportLtv } from './cohorts/ltv.ts';
import { PredictedLtvQuery, reportPredictedLtv } from './cohorts/predicted-ltv.ts';
import { RetentionQuery, reportRetention } from './cohorts/retention.ts';
import { CompareQuery, reportCompare } from './compare.ts';
import { type DimensionName, REPORT_DIMENSIONS } from './dimensions.ts';
import { DOUBT_RULE_COLUMNS, DOUBTED_GROUP_COLUMNS, DoubtsQuery, reportDoubts } from './doubts/doubts.ts';
import { earlierDays } from './earlier-days.ts';
import { FunnelQuery, reportFunnel } from './funnel.ts';
import { PerformanceQuery, reportPerformance, withOnly } from './performance.ts';
import type { Reported } from './query.ts';

/** A query of any report. */
type AnyQuery = z.ZodObject &
  z.ZodType<{ application_id: string; from: string; to: string; format: 'json' | 'csv' }>;
type AnyRows = { data: readonly Record<string, unknown>[]; timezone: string };

export type ReportName = keyof Answers;

/** What its route and its documentation are made of. `ANSWERS` has the schemas of the answers, which only documentation and CSV need. */
export type Report<Query extends AnyQuery = AnyQuery, Answer = AnyRows> = {
  query: Query;
  /** The columns that its rows have only if they are asked for, in their order. */
  columnsOf(query: z.output<Query>): readonly string[];
  read(env: Env, application: Reported, query: z.output<Query>, now: number): Promise<Answer>;
};

const define = <Query extends AnyQuery, Answer>(report: Report<Query, Answer>) => report;

const ofGroups = (names: readonly DimensionName[]) =>
  names.flatMap((name) => Object.keys(REPORT_DIMENSIONS[name].show(null)));
type Grouped = { group_by?: DimensionName | undefined };
const ofGroup = ({ group_by: group }: Grouped) => ofGroups(group ? [group] : []);
/** Cohorts without a grouping have the columns of one by creative. */
const ofCohort = ({ group_by: group = 'creative' }: Grouped) => ofGroups([group]);

/** The reports by the last part of their path. */
export const REPORTS = {
  performance: define({
    query: PerformanceQuery,
    columnsOf: ({ group_by, metrics = PLAIN_METRICS }) => [...ofGroups(group_by), ...metrics],
    async read(env, application, query, now) {
      const { metrics = PLAIN_METRICS } = query;
      const readDays = async (days: { from: string; to: string }) => {
        const report = await reportPerformance(env, application, { ...query, ...days }, now);
        return {
          ...report,
          data: report.data.map((row) => withOnly(row, metrics)),
          totals: withOnly(report.totals, metrics),
        };
      };
      const report = await readDays(query);
      const days = query.compare && earlierDays(query, query.compare);
      if (!days) return report;
      const { data, total_rows, totals, unconverted } = await readDays(days);
      return { ...report, before: { ...days, data, total_rows, totals, unconverted } };
    },
  }),
  retention: define({ query: RetentionQuery, columnsOf: ofCohort, read: reportRetention }),
  ltv: define({ query: LtvQuery, columnsOf: ofCohort, read: reportLtv }),
  funnel: define({ query: FunnelQuery, columnsOf: ofGroup, read: reportFunnel }),
  compare: define({ query: CompareQuery, columnsOf: () => [], read: reportCompare }),
  'predicted-ltv': define({ query: PredictedLtvQuery, columnsOf: ofGroup, read: reportPredictedLtv }),
  ads: define({ query: AdsQuery, columnsOf: ofGroup, read: reportAds }),
  doubts: define({
    query: DoubtsQuery,
    columnsOf: ({ group_by: group }) => [
      ...ofGroup({ group_by: group }),
      ...(group ? DOUBTED_GROUP_COLUMNS : DOUBT_RULE_COLUMNS),
    ],
    read: reportDoubts,
  }),
  'client-totals': define({ query: ClientTotalsQuery, columnsOf: () => [], read: reportClientTotals }),
} satisfies {
  [Name in ReportName]: {
    /** Answers as documented. How fresh the answer is, the route adds. */
    read(...asked: never[]): Promise<Omit<Answers[Name], 'counted_through' | 'uncounted'>>;
  };
};
