import type { Network } from './network.ts';

export const unityAds: Network = {
  id: 'unity_ads',
  name: 'Unity Ads',
  aliases: {
    unity: 'Unity Ads',
    unityads: 'Unity Ads',
  },
  roles: ['advertising', 'monetization'],
  clickIds: ['gamer_id'],
  macros: {
    gamer_id: '{gamer_id}',
    campaign_id: '{campaign_id}',
    campaign_name: '{campaign_name}',
    ad_id: '{creative_pack_id}',
    ad_name: '{creative_pack}',
    site_id: '{source_game_id}',
    country: '{country_code}',
  },
  postback: {
    method: 'GET',
    url: 'https://postback.unityads.unity3d.com/games/<game ID>/install?advertisingTrackingId={advertising_id}&gamerId={click.gamer_id?}&attributed={attributed.unity_ads}',
    events: ['install'],
    ofOwnDevices: false,
    notes: [
      'Unity wants every install, also those of other networks. It requires the advertising id, so installs without one are skipped.',
    ],
    unverified: 'Nobody has sent this to Unity.',
    source:
      'https://docs.unity.com/en-us/user-acquisition/data-sharing/custom-integration/custom-integration-postback-request',
  },
  skadnetworkIds: ['4dzt52r2t5'],
  notes: [
    'Integrations without a measurement partner are possible. Unity then expects `{ifa}` in the link, which is left out here because the parameters of a click are stored.',
    'Unity wants links that answer with an HTTP redirect and do not lead to a store. A link of this service leads to the store, and on iOS shows a page first.',
  ],
  unverified: [
    'Except `{ifa}`, the names of the macros could not be checked against the current documentation.',
  ],
  sources: [
    'https://docs.unity.com/en-us/user-acquisition/data-sharing/attribution/attribution-link-parameter-reference',
  ],
};
