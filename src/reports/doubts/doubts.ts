import * as z from 'zod';
import {
  clickFlooding,
  DEVICE_DIMENSIONS,
  DOUBT_RULES,
  type DoubtRule,
  isFlooded,
  settingOf,
} from '#catalogue';
import { queryDoubts, sumDoubts } from '#counting';
import { database } from '#db';
import { counterGroup, labelGroups } from '../device-groups.ts';
import { otherColumns } from '../dimensions.ts';
import { CREATIVE_GROUPS } from '../names.ts';
import { deviceFilterOf } from '../payers.ts';
import { checkPeriod, filtersOf, MAX_ROWS, period, type Reported } from '../query.ts';
import { measureSources } from './source-days.ts';

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

const rowOf = (rule: DoubtRule, { rules }: DoubtSums, settings: Reported['fraudRules']) => ({
  rule: rule.id,
  label: rule.label,
  ...settingOf(rule, settings),
  doubted_installs: rules[rule.id]?.doubted ?? 0,
  not_checked_installs: rules[rule.id]?.notChecked ?? 0,
});

/**
 * The attributed installs of devices acquired from `from` to `to` that the application's rules doubt as they are now, whatever they were at the
 * time of the install: by rule, and by group those with the most doubtful installs first. `flooded` are the days of creatives whose clicks look
 * like click flooding, whose installs the rule doubts. Devices that were erased are in no figure.
 */
export async function findDoubts(env: Env, application: Reported, query: DoubtsQuery, now: number) {
  const { from, to, group_by: group } = query;
  const settings = application.fraudRules;
  const [measured, filter] = await Promise.all([
    measureSources(env, application, { from, to }, now),
    deviceFilterOf(env.DB, application.id, filtersOf(query)),
  ]);
  const { groups: answered } = await queryDoubts(env, application, {
    cohort: { from, to },
    filter,
    groupBy: counterGroup(group),
    settings,
    sources: [],
    judged: measured.judged.map(({ creativeId, facts }) => ({ creativeId, facts })),
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
    ...floodedOf(measured, settings, filter.creativeIds),
  };
}

/** Those whose verdict is click flooding, by the settings of now and of the creatives that the report is about. */
function floodedOf(
  { sources, judged }: Awaited<ReturnType<typeof measureSources>>,
  settings: Reported['fraudRules'],
  creativeIds: readonly string[] | undefined,
) {
  const threshold = settingOf(clickFlooding, settings).threshold ?? 0;
  const flooded = judged
    .filter(({ creativeId }) => creativeIds === undefined || creativeIds.includes(creativeId))
    .filter(({ facts }) => isFlooded(facts, threshold))
    .map(({ creative, creativeId, facts }) => ({
      ...{ day: facts.day, creative, creative_id: creativeId, clicks: facts.clicks },
      ...{ installs: facts.installs, conversion: facts.installs / facts.clicks },
      ...{ median_seconds: facts.median_seconds, p95_seconds: facts.p95_seconds },
    }));
  const median_conversion = judged[0]?.facts.usual_conversion ?? null;
  return { flooded, judged_source_days: sources, median_conversion };
}

/** See `findDoubts`: its rules, or its groups with `group_by`. */
export async function reportDoubts(env: Env, application: Reported, query: DoubtsQuery, now: number) {
  const { rules, groups, ...rest } = await findDoubts(env, application, query, now);
  return { data: query.group_by ? groups : rules, ...rest, timezone: application.timezone };
}
