import { kindOf, listConnectors, showConnector } from '#connectors';
import { database } from '#db';
import { type DestinationRow, KIND_NAMES, listDestinations } from '#destinations';
import { readAs } from '#http';
import { NETWORKS, type Network } from '#networks';
import { isOfGroup, PerformanceQuery, reportPerformance } from '#reports';
import type { DashboardContext } from '../../shell/page-record.ts';
import { viewAsked } from '../../shell/report.tsx';
import type { View } from '../../shell/view.ts';
import type { MetricName } from '../../tables/metrics.ts';

// What an application has of each network: figures of the view's days, where conversions are sent, and what fetches its costs.

export const PATH = '/networks';
export const FIGURES = [
  'clicks',
  'installs',
  'spend',
  'cpi',
  'revenue',
  'roas',
] as const satisfies readonly MetricName[];

/** The scheme and host of a template's address. */
const originOf = (url: string | undefined): string | undefined => /^https?:\/\/[^/?#]+/.exec(url ?? '')?.[0];

/** Whether a network has a conversions API here. The kind of its destination is then the network's id. */
export const hasConversionsApi = ({ id }: Network): boolean => KIND_NAMES.includes(id);

/** Whether a destination tells this network of conversions. */
const isFor = ({ id, postback }: Network, { kind, settings }: DestinationRow): boolean =>
  kind === id ||
  (postback !== undefined && kind === 'postback' && originOf(settings.url) === originOf(postback.url));

/** Whether a connector for the network's costs exists. Its kind is then the network's id. */
export const hasCosts = ({ id }: Network): boolean => kindOf(id)?.family === 'costs';

export async function readStates(c: DashboardContext, view: View) {
  const db = database(c.env.DB);
  const asked = { ...viewAsked(view), group_by: 'network', metrics: FIGURES.join(',') };
  const [report, connectors, destinations] = await Promise.all([
    reportPerformance(c.env, view.application, readAs(PerformanceQuery, asked), view.now),
    listConnectors(db, view.application.id),
    listDestinations(db, [view.application.id]),
  ]);
  const states = NETWORKS.map((network) => ({
    network,
    figures: report.data.find((row) => row.network === network.id && isOfGroup(row)),
    connectors: connectors
      .filter(({ kind }) => kind === network.id)
      .map((row) => showConnector(row, view.now)),
    destinations: destinations.filter((one) => isFor(network, one)),
  }));
  return { report, states };
}
export type NetworkState = Awaited<ReturnType<typeof readStates>>['states'][number];
