import type { Network } from './network.ts';

export const google: Network = {
  id: 'google',
  name: 'Google',
  aliases: {
    adwords: 'Google',
    google_universal_app_campaigns: 'Google',
    googleadwords: 'Google',
    google_ads_display: 'Google',
    google_ads_search: 'Google',
  },
  roles: ['advertising'],
  clickIds: ['gclid', 'gbraid', 'wbraid'],
  macros: {
    campaign_id: '{campaignid}',
    adset_id: '{adgroupid}',
    ad_id: '{creative}',
    site_name: '{placement}',
    placement: '{network}',
  },
  skadnetworkIds: ['cstr6suwn9'],
  notes: [
    'App campaigns take no tracking link, so their clicks never arrive here. On Android, the Play install referrer carries `gclid`, `gbraid` or `wbraid`, which says that it was Google, but not which campaign.',
    'Other campaign types take the link as their final URL, or as a tracking template.',
  ],
  unverified: [],
  sources: [
    'https://support.google.com/google-ads/answer/7382504',
    'https://developers.google.com/app-conversion-tracking/api/request-response-specs',
  ],
};
