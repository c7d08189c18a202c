import { and, eq, or, type SQL, sql } from 'drizzle-orm';
import {
  COST_DIMENSIONS,
  type CostDimension,
  ofDimensions,
  storedAs,
  storedValue,
  UNKNOWN_VALUE,
} from '#catalogue';
import { adsets, campaigns, costs, creatives, isAmong } from '#db';
import { CREATIVE_GROUPS, type CreativeGroup, costNames } from './names.ts';
import type { ReportFilters } from './query.ts';

/** Whether rows are filtered by creative, and not only by paid or organic. */
export const isByCreative = (filters: ReportFilters): boolean =>
  CREATIVE_GROUPS.some((group) => filters[`${group}_id`] !== undefined);

/**
 * The condition on the rows of `costs`. All spend is on creatives, so none of it is organic. Costs that do not state a dimension are of an
 * unknown value. Filters by a dimension that costs never state are the caller's.
 */
export function costCondition(applicationId: string, filters: ReportFilters): SQL | undefined {
  return and(
    ...CREATIVE_GROUPS.map((group) => ofNames(applicationId, group, filters)),
    ...COST_DIMENSIONS.map((name) => ofStated(name, filters)),
    filters.attribution === 'organic' ? sql`false` : undefined,
  );
}

function ofNames(applicationId: string, group: CreativeGroup, filters: ReportFilters): SQL | undefined {
  const ids = filters[`${group}_id`];
  return ids && isAmong(sql`nullif(${costNames(applicationId)[group]}, '') ->> 0`, ids);
}

function ofStated(name: CostDimension, filters: ReportFilters): SQL | undefined {
  const values = filters[name]?.flatMap((value) => storedAs(name, storedValue(value)));
  return values && isAmong(costs[name], values);
}

/** The dimensions of filters that costs may not state. Those of an unknown value are meant if the filter asks for it. */
export const namesUndecided = (filters: ReportFilters): readonly (CostDimension | 'adset' | 'creative')[] => [
  ...COST_DIMENSIONS.filter((name) => filters[name] && !filters[name].includes(UNKNOWN_VALUE)),
  ...(['adset', 'creative'] as const).filter((name) => filters[`${name}_id`] !== undefined),
];

export const isUndecided = (filters: ReportFilters): boolean => namesUndecided(filters).length > 0;

/** The condition on costs that match the filters as far as they state what these ask for. */
export function possibleCosts(applicationId: string, filters: ReportFilters): SQL | undefined {
  const ofCampaigns = sql`${adsets} INNER JOIN ${campaigns} ON ${campaigns.id} = ${adsets.campaignId}
    AND ${campaigns.applicationId} = ${applicationId} AND ${campaigns.name} = ${costs.campaign}`;
  const { adset_id = [], creative_id = [] } = filters;
  const mayBeOf = {
    adset: sql`${costs.adset} = '' AND EXISTS (SELECT 1 FROM ${ofCampaigns} WHERE ${isAmong(adsets.id, adset_id)})`,
    creative: sql`${costs.creative} = '' AND EXISTS (SELECT 1 FROM ${ofCampaigns}
      INNER JOIN ${creatives} ON ${creatives.adsetId} = ${adsets.id}
      WHERE ${isAmong(creatives.id, creative_id)} AND ${costs.adset} IN ('', ${adsets.name}))`,
  };
  const undecided = namesUndecided(filters);
  const orUnstated = (name: (typeof undecided)[number], matches: SQL | undefined, unstated: SQL) =>
    undecided.includes(name) ? sql`(${matches} OR ${unstated})` : matches;
  return and(
    ofNames(applicationId, 'campaign', filters),
    ...(['adset', 'creative'] as const).map((name) =>
      orUnstated(name, ofNames(applicationId, name, filters), sql`(${mayBeOf[name]})`),
    ),
    ...COST_DIMENSIONS.map((name) => orUnstated(name, ofStated(name, filters), sql`${costs[name]} = ''`)),
  );
}

/** The condition on the costs that filters leave out only because they do not state a dimension; null if no filter leaves out such costs. */
export function unallocatedCondition(applicationId: string, filters: ReportFilters): SQL | null {
  const asked = COST_DIMENSIONS.filter((name) => filters[name] && !filters[name].includes(UNKNOWN_VALUE));
  if (asked.length === 0) return null;
  const withUnknown = ofDimensions(asked, (name) => [...(filters[name] ?? []), UNKNOWN_VALUE]);
  const condition = and(
    costCondition(applicationId, { ...filters, ...withUnknown }),
    or(...asked.map((name) => eq(costs[name], ''))),
  );
  return condition ?? null;
}
