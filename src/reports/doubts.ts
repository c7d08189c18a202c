import * as z from 'zod';
import { DOUBT_RULES, settingOf } from '#catalogue';
import { sumDoubts } from '#counting';
import { deviceFilterOf } from './payers.ts';
import { checkPeriod, period, type Reported } from './query.ts';

const { application_id, from, to, format, campaign_id, adset_id, creative_id } = period;

export const DoubtsQuery = z
  .object({ application_id, from, to, format, campaign_id, adset_id, creative_id })
  .superRefine(checkPeriod);
export type DoubtsQuery = z.infer<typeof DoubtsQuery>;

/**
 * The attributed installs of devices acquired from `from` to `to` that the application's rules doubt as they are now, whatever they were at the
 * time of the install. Devices that were erased are in no figure.
 */
export async function reportDoubts(env: Env, application: Reported, query: DoubtsQuery) {
  const { campaign_id, adset_id, creative_id } = query;
  const filter = await deviceFilterOf(env.DB, application.id, { campaign_id, adset_id, creative_id });
  const found = await sumDoubts(env, application, {
    cohort: { from: query.from, to: query.to },
    creativeIds: filter.creativeIds,
    settings: application.installDoubts,
  });
  return {
    data: DOUBT_RULES.map((rule) => ({
      rule: rule.id,
      label: rule.label,
      ...settingOf(rule, application.installDoubts),
      doubted_installs: found.rules[rule.id]?.doubted ?? 0,
      not_checked_installs: found.rules[rule.id]?.notChecked ?? 0,
    })),
    totals: {
      attributed_installs: found.installs,
      doubted_installs: found.doubted,
      net_installs: found.installs - found.doubted,
      excluded_installs: found.excluded,
    },
    timezone: application.timezone,
  };
}
