import * as z from 'zod';
import {
  DEVICE_DIMENSIONS,
  DOUBT_RULES,
  type DoubtRule,
  FLOODING,
  judgeSourceDays,
  settingOf,
} from '#catalogue';
import { queryDoubts, sumDoubts } from '#counting';
import { database } from '#db';
import { isOfCreatives, labelGroups, otherColumns } from './device-groups.ts';
import { CREATIVE_GROUPS } from './names.ts';
import { deviceFilterOf } from './payers.ts';
import { PerformanceQuery, reportPerformance } from './performance.ts';
import { checkPeriod, filtersOf, MAX_ROWS, period, type Reported } from './query.ts';

/** The groupings with few enough values that a counter returns all. */
export const DOUBTS_GROUPS = [...CREATIVE_GROUPS, ...DEVICE_DIMENSIONS] as const;

export const DoubtsQuery = z
  .object({
    ...period,
    group_by: z.enum(DOUBTS_GROUPS, { error: `must be one of ${DOUBTS_GROUPS.join(', ')}` }).optional(),
  })
  .superRefine(checkPeriod);
export type DoubtsQuery = z.infer<typeof DoubtsQuery>;

/** The columns of rows by rule and by group, in the order of the documented rows. */
export const DOUBT_RULE_COLUMNS = ['rule', 'label', 'action', 'threshold', 'not_checked_installs'] as const;
export const DOUBTED_GROUP_COLUMNS = ['attributed_installs', 'net_installs', 'excluded_installs'] as const;

type DoubtSums = ReturnType<typeof sumDoubts>;

const figuresOf = ({ installs, doubted, excluded }: DoubtSums) => ({
  attributed_installs: installs,
  doubted_installs: doubted,
  net_installs: installs - doubted,
  excluded_installs: excluded,
});

const rowOf = (rule: DoubtRule, { rules }: DoubtSums, settings: Reported['installDoubts']) => ({
  rule: rule.id,
  label: rule.label,
  ...settingOf(rule, settings),
  doubted_installs: rules[rule.id]?.doubted ?? 0,
  not_checked_installs: rules[rule.id]?.notChecked ?? 0,
});

/**
 * The attributed installs of devices acquired from `from` to `to` that the application's rules doubt as they are now, whatever they were at the
 * time of the install: by rule, and by group those with the most doubtful installs first. `flooded` are the days of creatives whose clicks look
 * like click flooding. Devices that were erased are in no figure.
 */
export async function findDoubts(env: Env, application: Reported, query: DoubtsQuery, now: number) {
  const { from, to, group_by: group } = query;
  const settings = application.installDoubts;
  const sources = await readSources(env, application, query, now);
  const { groups: answered, delays } = await queryDoubts(env, application, {
    cohort: { from, to },
    filter: await deviceFilterOf(env.DB, application.id, filtersOf(query)),
    groupBy: group === undefined ? null : isOfCreatives(group) ? 'creative' : group,
    settings,
    sources: sources.map(({ creativeId, day }) => ({ creativeId, day })),
  });
  const labelled = group ? await labelGroups(database(env.DB), application.id, group, answered) : [];
  const ranked = labelled
    .map(({ columns, parts }) => ({ columns, parts, figures: figuresOf(sumDoubts(parts)) }))
    .sort(
      ({ figures: a }, { figures: b }) =>
        b.doubted_installs - a.doubted_installs || b.attributed_installs - a.attributed_installs,
    );
  const rest = ranked.slice(MAX_ROWS).flatMap(({ parts }) => parts);
  const total = sumDoubts(answered);
  return {
    rules: DOUBT_RULES.map((rule) => rowOf(rule, total, settings)),
    groups: [
      ...ranked.slice(0, MAX_ROWS).map(({ columns, figures }) => ({ ...columns, ...figures })),
      ...(group && rest.length > 0 ? [{ ...otherColumns(group), ...figuresOf(sumDoubts(rest)) }] : []),
    ],
    totals: figuresOf(total),
    ...floodedOf(sources.map((source, index) => ({ ...source, delays: delays[index]?.delays ?? [] }))),
  };
}

/** The days of creatives with the most clicks. */
const MAX_SOURCE_DAYS = 100;

/** The days of creatives that have enough clicks to be judged, the most clicks first. */
async function readSources(env: Env, application: Reported, query: DoubtsQuery, now: number) {
  const { application_id, from, to } = query;
  const asked = PerformanceQuery.parse({ application_id, from, to, group_by: 'day,creative' });
  const report = await reportPerformance(
    env,
    application,
    { ...asked, ...filtersOf(query), metrics: ['clicks'] },
    now,
  );
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
    .slice(0, MAX_SOURCE_DAYS);
}

type DoubtedSource = Awaited<ReturnType<typeof readSources>>[number] & {
  delays: readonly { seconds: number; installs: number }[];
};

function floodedOf(sources: readonly DoubtedSource[]) {
  const { medianConversion, judged } = judgeSourceDays(sources);
  const flooded = judged
    .filter(({ isFlooded }) => isFlooded)
    .map(({ of, installs, conversion, medianSeconds, p95Seconds }) => ({
      ...{ day: of.day, creative: of.creative, creative_id: of.creativeId, clicks: of.clicks },
      ...{ installs, conversion, median_seconds: medianSeconds, p95_seconds: p95Seconds },
    }));
  return { flooded, judged_source_days: judged.length, median_conversion: medianConversion };
}

/** See `findDoubts`: its rules, or its groups with `group_by`. */
export async function reportDoubts(env: Env, application: Reported, query: DoubtsQuery, now: number) {
  const { rules, groups, ...rest } = await findDoubts(env, application, query, now);
  return { data: query.group_by ? groups : rules, ...rest, timezone: application.timezone };
}
