import type { Network } from './network.ts';

export const mintegral: Network = {
  id: 'mintegral',
  name: 'Mintegral',
  aliases: {},
  roles: ['advertising', 'monetization'],
  clickIds: ['mtg_click_id', 'mtg_uuid'],
  macros: {
    mtg_click_id: '{click_id}',
    mtg_uuid: '{uuid}',
    campaign_id: '{adv_campaign_id}',
    campaign_name: '{offer_name}',
    adset_id: '{adv_offer_id}',
    ad_id: '{creative_id}',
    ad_name: '{creative_name}',
    site_id: '{affiliate_id}',
  },
  serverMacros: { ip: '{ip}', ua: '{ua}' },
  postback: {
    method: 'GET',
    url: 'https://postback.mintegral.net/install?clickid={click.mtg_click_id}&campuuid={click.mtg_uuid}&idfa={idfa?}&gaid={gaid?}',
    events: ['install'],
    ofOwnDevices: true,
    notes: [],
    unverified:
      'Nobody has sent this to Mintegral, which documents the address with http; destinations need https.',
    source: 'https://helpcenter.mintegral.com/cn/docs/postback-url',
  },
  skadnetworkIds: ['kbd757ywx3'],
  notes: [
    '`{click_id}` and `{uuid}` are required.',
    'Mintegral can report clicks and impressions from its servers (asynchronous clicks). It then expects a 200 instead of a redirect: give it the links for its servers, and enter the store URL at Mintegral. No macro of the time is documented, so a report that Mintegral repeats counts again.',
  ],
  unverified: [],
  sources: [
    'https://helpcenter.mintegral.com/en/docs/integration-parameter',
    'https://helpcenter.mintegral.com/en/docs/update-tracking-url',
  ],
};
