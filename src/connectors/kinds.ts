import type * as z from 'zod';
import { optionalText } from '#http';
import { CAMPAIGN_FILTER, COST_REPORTS, type CostReport } from '#networks/costs';
import { PLATFORMS, type Platform } from './platforms.ts';
import { pull } from './pull.ts';

/** Reports of ad revenue are compared with what arrived; those of costs are spend. */
export type ConnectorKind = ({ family: 'ad_revenue' } & Platform) | ({ family: 'costs' } & CostReport);

const withCosts = (report: CostReport): ConnectorKind => ({
  family: 'costs',
  ...report,
  // An account may advertise several apps.
  settings: report.settings.extend({ [CAMPAIGN_FILTER]: optionalText(255).transform((text) => text ?? '') }),
  labels: { ...report.labels, [CAMPAIGN_FILTER]: 'Only campaigns whose name contains' },
});

const { max, levelplay } = PLATFORMS;
const { meta, tiktok, applovin, google } = COST_REPORTS;

/** By the `kind` of a connector. */
export const KINDS = {
  meta: withCosts(meta),
  tiktok: withCosts(tiktok),
  applovin: withCosts(applovin),
  google: withCosts(google),
  pull: withCosts(pull),
  max: { family: 'ad_revenue', ...max },
  levelplay: { family: 'ad_revenue', ...levelplay },
} as const satisfies Record<string, ConnectorKind>;
type KindName = keyof typeof KINDS;
export const CONNECTOR_KINDS = Object.keys(KINDS) as [KindName, ...KindName[]];

/** A kind that this release knows. */
export const kindOf = (name: string): ConnectorKind | undefined =>
  Object.hasOwn(KINDS, name) ? KINDS[name as KindName] : undefined;

/** The fields of a kind's form: its settings and its credentials. */
export const fieldsOf = ({ settings, credentials, labels }: ConnectorKind) =>
  (
    [
      ['settings', settings.shape],
      ['credentials', credentials.shape],
    ] as const
  ).flatMap(([group, shape]) =>
    Object.entries(shape).map(([name, schema]: [string, z.ZodType]) => ({
      name: `${group}.${name}`,
      label: labels[name] ?? name,
      isSecret: group === 'credentials',
      isRequired: !schema.safeParse(undefined).success,
    })),
  );
