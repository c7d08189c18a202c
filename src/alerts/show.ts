import { present } from '#lib/input/present';
import { iso, isoOrNull } from '#lib/time';
import type { ApplicationRow } from '#teams';
import { type AlertRow, alertText } from './alerts.ts';
import type { Alert, AlertPreview } from './answers.ts';
import type { Evaluated } from './evaluate.ts';
import { comparedWith, type MetricRule, readFiringGroups, readRule } from './rule.ts';

type Currency = Pick<ApplicationRow, 'currency'>;

const showRule = (rule: MetricRule) => {
  const { metric, condition, days, group_by, filters, min_spend, min_installs } = rule;
  return {
    ...{ metric, condition, compared_with: comparedWith(rule), days, group_by: group_by ?? null },
    ...{ filters: present(filters), min_spend: min_spend ?? null, min_installs: min_installs ?? null },
  };
};

/** An alert in the team API's format; `lastFiredAt` in epoch milliseconds. */
export function showAlert(row: AlertRow, { currency }: Currency, lastFiredAt: number | undefined): Alert {
  const rule = row.rule === null ? null : readRule(row.rule);
  const firing = rule?.group_by ? Object.values(readFiringGroups(row.firingGroups)) : [];
  return {
    id: row.id,
    application_id: row.applicationId,
    kind: row.kind,
    threshold: row.threshold,
    ...(rule ? showRule(rule) : {}),
    text: alertText(row, currency),
    enabled: row.offSince === null,
    firing_since: isoOrNull(row.firingSince),
    firing_groups: firing.map(({ name, since, day }) => ({ name, since: iso(since), last_day: day })),
    last_fired_at: isoOrNull(lastFiredAt ?? null),
    finding: row.finding,
    created_at: iso(row.createdAt),
  };
}

/** Evaluations in the team API's format. */
export const showPreview = (evaluated: readonly Evaluated[], { currency }: Currency): AlertPreview => ({
  currency,
  data: evaluated.map(({ from, to, groups, leftOut }) => ({
    from,
    to,
    groups: groups.map(({ name, filter, value, before, firing }) => ({
      ...{ name, value, before, firing },
      filter: filter && { [filter[0]]: filter[1] },
    })),
    left_out: leftOut,
  })),
});
