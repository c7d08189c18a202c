/** What a tracking link can tell about an ad, under the same names for every network. */
export const LINK_PARAMETERS = [
  'campaign_id',
  'campaign_name',
  'adset_id',
  'adset_name',
  'ad_id',
  'ad_name',
  'site_id',
  'site_name',
  'placement',
  'country',
  'cost',
  'cost_currency',
] as const;
type LinkParameter = (typeof LINK_PARAMETERS)[number];

/** A plain postback of a network: what a destination of the kind `postback` starts with. What stands in angle brackets is to be replaced. */
type PostbackPreset = {
  method: 'GET' | 'POST';
  url: string;
  /** The destination's `events`. */
  events: readonly string[];
  /** Whether it is for devices that are credited to this network alone. */
  ofOwnDevices: boolean;
  notes: readonly string[];
  /** What nobody has confirmed against the live network. */
  unverified: string;
  source: string;
};

/**
 * What is known of an advertising network, as data. Everything that differs by network is derived from it: the link for its ads, the click ids
 * that are kept, the names in reports, its pages in docs/networks and in the dashboard.
 */
export type Network = {
  /** In lower case: in `media_source`, and in the parameter `network` of its links. */
  id: string;
  /** As the network writes it. */
  name: string;
  /** Further values of `media_source` that mean it, each with the name to show. */
  aliases: Readonly<Record<string, string>>;
  /** Whether it shows your ads (`advertising`), ads in your app (`monetization`), or decides which network does (`mediation`). */
  roles: readonly ('advertising' | 'monetization' | 'mediation')[];
  /** Query parameters in which it passes the id of a click, exactly as it spells them. */
  clickIds: readonly string[];
  /**
   * The macros that it replaces in a tracking link, by parameter: those of `LINK_PARAMETERS`, and click ids. Null if its ads take no tracking
   * link. Macros of device ids are left out, because the parameters of a click are stored.
   */
  macros: Readonly<Partial<Record<LinkParameter, string>> & Record<string, string>> | null;
  /**
   * The macros that it replaces in the links for its servers, by parameter of `?s2s=`. Absent if its servers are not known to report clicks and
   * impressions.
   */
  serverMacros?: Readonly<Record<'ip' | 'ua', string> & Partial<Record<'id' | 'time' | 'country', string>>>;
  /** Absent if the network documents none. */
  postback?: PostbackPreset;
  /** How SKAdNetwork and AdAttributionKit name it, before the first point: `v9wttpbfk9` of `v9wttpbfk9.skadnetwork`. Empty if not known. */
  skadnetworkIds: readonly string[];
  /** What to know before using it. */
  notes: readonly string[];
  /** What is not confirmed by the network's own documentation or a test. */
  unverified: readonly string[];
  /** Where the facts are from. */
  sources: readonly string[];
};
