import { composed } from '#lib/input/name-forms';
import { placeholderId, placeholderName } from '#lib/input/placeholder';
import { NETWORKS } from './list.ts';
import { OTHER_NETWORKS } from './others.ts';

// Which advertising network brought a device: what a link, a click or a referrer says of it. Pure.

/** Letters and digits, because `Unity Ads`, `unity_ads` and `UNITY-ADS` are one name. */
const fold = (text: string): string => text.toLowerCase().replaceAll(/[\s_.-]+/g, '');

/**
 * The aliases of a network, each with what it means: the network itself, or the one with a name of its own, such as its mediation, which is not the network
 * that ads are bought at and has the shortest of its aliases as its id.
 */
function aliasesOf({ id, name, aliases }: (typeof NETWORKS)[number]): (readonly [string, string])[] {
  const byName = Map.groupBy(Object.keys(aliases), (alias) => aliases[alias] ?? name);
  return [...byName].flatMap(([own, spelled]) => {
    const [shortest = id] = spelled.toSorted((left, right) => left.length - right.length);
    return [own, ...spelled].map((alias) => [alias, own === name ? id : shortest] as const);
  });
}

/** Every name of every network in lower case, with its id. */
const SPELLED = new Map(
  [
    ...OTHER_NETWORKS.flatMap(({ id, name, aliases = [] }) =>
      [id, name, ...aliases].map((known) => [known, id] as const),
    ),
    ...NETWORKS.flatMap(aliasesOf),
    ...NETWORKS.flatMap(({ id, name }) => [[id, id] as const, [name, id] as const]),
  ].map(([known, id]) => [known.toLowerCase(), id] as const),
);
const IDS = new Map([...SPELLED].map(([known, id]) => [fold(known), id] as const));

/**
 * What mediation platforms and attribution services add to a network's name: `UNITY_BIDDING`, `unityads_int`, `Snapchat Installs`, `TikTok SAN`, `Google Ads
 * ACI`, `TikTok for Business (Android)`.
 */
const ADDED =
  /[\s_-]*(?:\((?:android|ios)\)|\b(?:for business|installs?|san|aci|ace|uac)|(?:ads?|bidding|network|exchange|mediate)|_int)$/;

/** The `id` of a network by any of its names; undefined for one that is not known. */
export function knownNetwork(text: string): string | undefined {
  for (let name = text.toLowerCase().trim(); ; ) {
    const known = IDS.get(fold(name));
    if (known !== undefined) return known;
    const shorter = name.replace(ADDED, '');
    if (shorter === name || shorter === '') return undefined;
    name = shorter;
  }
}

const ENDINGS = [
  '',
  '_int',
  ' ads',
  '_ads',
  ' bidding',
  '_bidding',
  ' network',
  '_network',
  ' installs',
  ' san',
];

/** How a network may have been stored by a release that knew fewer of its names: for conditions in databases. */
export const storedSpellings = (id: string): string[] => {
  const names = [...SPELLED, ...IDS].flatMap(([known, own]) =>
    own === id ? [known, known.replaceAll('_', ' '), known.replaceAll('_', '-')] : [],
  );
  return [...new Set([id, ...names].flatMap((name) => ENDINGS.map((ending) => name + ending)))];
};

const OF_CLICK_IDS = new Map(
  [...NETWORKS, ...OTHER_NETWORKS].flatMap(({ id, clickIds = [] }) =>
    clickIds.map((name) => [name, id] as const),
  ),
);

/** The query parameters in which networks pass the id of a click. */
export const CLICK_ID_PARAMETERS: ReadonlySet<string> = new Set(OF_CLICK_IDS.keys());

/** Parameters whose value names the network, the most explicit first. */
const NAMING = ['network', 'media_source', 'pid', 'utm_source'];

/** What Google Play and browsers send without an ad. */
const NONE: ReadonlySet<string> = new Set([
  ...['', '(direct)', 'direct', 'google-play', 'organic'],
  // Meta's apps call themselves the source of every link that leads out of them.
  ...['apps.facebook.com', 'apps.instagram.com'],
]);

export const MAX_NETWORK_CHARACTERS = 64;

/** A network as reports name it: the `id` of a known one, or else the text in lower case. Empty text if the text names none. */
export function toNetwork(text: string | undefined): string {
  const plain = composed((text ?? '').replaceAll(/\s+/g, ' ').trim().toLowerCase());
  if (NONE.has(plain) || placeholderName(plain) !== null) return '';
  return (knownNetwork(plain) ?? plain).slice(0, MAX_NETWORK_CHARACTERS).toWellFormed();
}

const isClickId = (value = '') => value.trim() !== '' && placeholderId(value.trim()) === null;

/** The network that a link's query parameters name; empty text for none. */
export function networkOfParams(params: Readonly<Record<string, string>>): string {
  for (const name of NAMING) {
    const network = toNetwork(params[name]);
    if (network !== '') return network;
  }
  const clickId = Object.keys(params).find((name) => OF_CLICK_IDS.has(name) && isClickId(params[name]));
  return OF_CLICK_IDS.get(clickId ?? '') ?? '';
}
