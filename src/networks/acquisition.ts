import { NETWORKS } from './list.ts';

// Which advertising network brought a device: what a link, a click or a referrer says of it. Pure.

/** Networks of which nothing is known here but how they appear in links. */
const OTHERS = [
  { id: 'linkedin', aliases: [], clickIds: ['li_fat_id'] },
  { id: 'microsoft', aliases: ['bing', 'bing ads'], clickIds: ['msclkid'] },
  { id: 'pinterest', aliases: [], clickIds: ['epik'] },
  { id: 'reddit', aliases: ['reddit ads'], clickIds: ['rdt_cid'] },
  { id: 'x', aliases: ['twitter', 'twitter ads'], clickIds: ['twclid'] },
];

/** What links and the exports of other attribution services call a network, besides the names that it has itself. */
const IN_LINKS: Readonly<Record<string, string>> = {
  'apple search ads': 'apple_ads',
  adwords: 'google',
  bytedanceglobal_int: 'tiktok',
  fb: 'meta',
  google_ads: 'google',
  googleads: 'google',
  googleadwords_int: 'google',
  ig: 'meta',
  instagram: 'meta',
  tiktokglobal_int: 'tiktok',
};

const IDS = new Map([
  ...NETWORKS.flatMap(({ id, name, aliases }) =>
    // An alias with a name of its own, such as a mediation, is not the network that ads are bought at.
    [name, ...Object.keys(aliases).filter((alias) => aliases[alias] === name)].map(
      (known) => [known.toLowerCase(), id] as const,
    ),
  ),
  ...OTHERS.flatMap(({ id, aliases }) => aliases.map((alias) => [alias, id] as const)),
  ...Object.entries(IN_LINKS),
]);

const OF_CLICK_IDS = new Map(
  [...NETWORKS, ...OTHERS].flatMap(({ id, clickIds }) => clickIds.map((name) => [name, id] as const)),
);

/** The query parameters in which networks pass the id of a click. */
export const CLICK_ID_PARAMETERS: ReadonlySet<string> = new Set(OF_CLICK_IDS.keys());

/** Parameters whose value names the network, the most explicit first. */
const NAMING = ['network', 'media_source', 'pid', 'utm_source'];

/** What Google Play and browsers send without an ad, and what names nothing. */
const NONE: ReadonlySet<string> = new Set([
  ...[
    '',
    '(not set)',
    '(direct)',
    'direct',
    'google-play',
    'none',
    'null',
    'organic',
    'undefined',
    'unknown',
  ],
  // Meta's apps call themselves the source of every link that leads out of them.
  ...['apps.facebook.com', 'apps.instagram.com'],
]);
/** A macro that the network did not replace: `{network}`, `__NETWORK__`, `%%network%%`. */
const MACRO = /[{}[\]]|^__.*__$|^%%.*%%$/;

export const MAX_NETWORK_CHARACTERS = 64;

/** A network as reports name it: the `id` of a known one, or else the text in lower case. Empty text if the text names none. */
export function toNetwork(text: string | undefined): string {
  const plain = (text ?? '').replaceAll(/\s+/g, ' ').trim().toLowerCase();
  if (NONE.has(plain) || MACRO.test(plain)) return '';
  const known = IDS.get(plain) ?? IDS.get(plain.replace(/(?:[ _-]?ads|_int)$/, ''));
  return (known ?? plain).slice(0, MAX_NETWORK_CHARACTERS).toWellFormed();
}

/** The network that a link's query parameters name; empty text for none. */
export function networkOfParams(params: Readonly<Record<string, string>>): string {
  for (const name of NAMING) {
    const network = toNetwork(params[name]);
    if (network !== '') return network;
  }
  const clickId = Object.keys(params).find((name) => params[name] && OF_CLICK_IDS.has(name));
  return OF_CLICK_IDS.get(clickId ?? '') ?? '';
}
