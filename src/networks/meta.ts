import type { Network } from './network.ts';

export const meta: Network = {
  id: 'meta',
  name: 'Meta',
  aliases: {
    audience_network: 'Meta',
    facebook_audience_network: 'Meta',
    facebook_messenger: 'Meta',
    fan: 'Meta',
    fb: 'Meta',
    ig: 'Meta',
    instagram: 'Meta',
    meta_audience_network: 'Meta',
    off_facebook: 'Meta',
    facebook: 'Meta',
    meta_an: 'Meta',
  },
  roles: ['advertising', 'monetization'],
  clickIds: ['fbclid'],
  macros: {
    campaign_id: '{{campaign.id}}',
    campaign_name: '{{campaign.name}}',
    adset_id: '{{adset.id}}',
    adset_name: '{{adset.name}}',
    ad_id: '{{ad.id}}',
    ad_name: '{{ad.name}}',
    site_name: '{{site_source_name}}',
    placement: '{{placement}}',
  },
  skadnetworkIds: ['v9wttpbfk9', 'n38lu8286q'],
  notes: [
    'Macros are replaced in the destination and URL parameters of ads that lead to a web page. App install ads lead to the store itself: on Android, their install referrer names the ad, encrypted with a key of your app.',
  ],
  unverified: [
    'Whether app promotion campaigns accept a tracking link as their destination depends on the objective.',
  ],
  sources: ['https://developers.facebook.com/docs/app-ads/install-referrer'],
};
