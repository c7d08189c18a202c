import { NETWORKS } from './list.ts';
import type { Network } from './network.ts';

export {
  CLICK_ID_PARAMETERS,
  knownNetwork,
  MAX_NETWORK_CHARACTERS,
  networkOfParams,
  storedSpellings,
  toNetwork,
} from './acquisition.ts';
export {
  ATT_STATUSES,
  consentIn,
  limitsTracking,
  NOT_UNDERSTOOD,
  readAttStatus,
  readGrant,
  readLimit,
  type ToldConsent,
  tightest,
} from './consent.ts';
export {
  exampleAddress,
  IMPRESSION_PRESETS,
  type ImpressionPreset,
  type ImpressionTemplate,
  impressionAddress,
  presetOf,
} from './impressions.ts';
export { NETWORKS } from './list.ts';
export { LINK_PARAMETERS, type Network } from './network.ts';
export { OTHER_NETWORKS } from './others.ts';

/** Where the ids of SKAdNetwork are from. */
export const SKADNETWORK_SOURCE = 'https://developers.google.com/admob/ios/3p-skadnetworks';

/** The network that a postback of SKAdNetwork or AdAttributionKit names; undefined for one that is not known. */
export function networkOfPostback(name: string): Network | undefined {
  const id = name.toLowerCase().split('.')[0] ?? '';
  return NETWORKS.find(({ skadnetworkIds }) => skadnetworkIds.includes(id));
}

/** The names of networks by `media_source`. */
export const MEDIA_SOURCE_NAMES: Readonly<Record<string, string>> = Object.assign(
  {},
  ...NETWORKS.map(({ id, name, aliases }) => ({ [id]: name, ...aliases })),
);

/**
 * A tracking link for a network's ads: the network's name and its macros are added to the query. Macros are not escaped, because networks find them
 * as they are. Null if its ads take no tracking link.
 */
export function linkFor({ id, macros }: Network, trackingLink: string): string | null {
  return macros && withMacros(trackingLink, { network: id, ...macros });
}

/** The links for a network's servers, likewise. Null if they are not known to report clicks and impressions. */
export function serverLinksFor(
  { id, macros, serverMacros }: Network,
  links: ServerLinks,
): ServerLinks | null {
  if (!serverMacros) return null;
  const fill = (link: string) => withMacros(link, { network: id, ...macros, ...serverMacros });
  return { click: fill(links.click), impression: fill(links.impression) };
}

/** Where a network's servers report the clicks on a creative and its impressions. */
type ServerLinks = { click: string; impression: string };

function withMacros(link: string, macros: Readonly<Record<string, string>>): string {
  const parameters = Object.entries(macros).map(([name, macro]) => `${name}=${macro}`);
  return `${link}${link.includes('?') ? '&' : '?'}${parameters.join('&')}`;
}
