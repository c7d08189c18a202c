import { admob } from './admob.ts';
import { appleAds } from './apple-ads.ts';
import { applovin } from './applovin.ts';
import { google } from './google.ts';
import { ironsource } from './ironsource.ts';
import { liftoff } from './liftoff.ts';
import { meta } from './meta.ts';
import { mintegral } from './mintegral.ts';
import { moloco } from './moloco.ts';
import type { Network } from './network.ts';
import { snap } from './snap.ts';
import { tiktok } from './tiktok.ts';
import { unityAds } from './unity-ads.ts';
import { vungle } from './vungle.ts';

export { LINK_PARAMETERS, type Network } from './network.ts';

/** Every known network: those with the most advertisers first, then those that only show ads in apps. */
export const NETWORKS: readonly Network[] = [
  meta,
  google,
  appleAds,
  tiktok,
  snap,
  unityAds,
  applovin,
  ironsource,
  mintegral,
  moloco,
  liftoff,
  vungle,
  admob,
];

/** The names of networks by `media_source`. */
export const MEDIA_SOURCE_NAMES: Readonly<Record<string, string>> = Object.assign(
  {},
  ...NETWORKS.map(({ id, name, aliases }) => ({ [id]: name, ...aliases })),
);

/** The query parameters in which networks pass the id of a click. */
export const CLICK_ID_PARAMETERS: ReadonlySet<string> = new Set([
  ...NETWORKS.flatMap(({ clickIds }) => clickIds),
  // Of networks of which nothing else is known here: Microsoft, X, LinkedIn, Reddit, Pinterest.
  ...['msclkid', 'twclid', 'li_fat_id', 'rdt_cid', 'epik'],
]);

/**
 * A tracking link for a network's ads: the network's name and its macros are added to the query. Macros are not escaped, because networks find them
 * as they are. Null if its ads take no tracking link.
 */
export function linkFor({ id, macros }: Network, trackingLink: string): string | null {
  if (macros === null) return null;
  const parameters = [`network=${id}`, ...Object.entries(macros).map(([name, macro]) => `${name}=${macro}`)];
  return `${trackingLink}${trackingLink.includes('?') ? '&' : '?'}${parameters.join('&')}`;
}
