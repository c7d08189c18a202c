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
  notes: [
    '`{click_id}` and `{uuid}` are required.',
    'Mintegral can call a link from its server and then expects a 200 instead of a redirect. This service answers with a redirect.',
  ],
  unverified: [],
  sources: ['https://helpcenter.mintegral.com/en/docs/integration-parameter'],
};
