import type { Network } from './network.ts';

export const appleAds: Network = {
  id: 'apple_ads',
  name: 'Apple Ads',
  aliases: {
    apple_search_ads: 'Apple Ads',
    asa: 'Apple Ads',
  },
  roles: ['advertising'],
  clickIds: [],
  macros: null,
  skadnetworkIds: [],
  notes: [
    'Ads lead to the App Store and take no link. The app can ask for an AdServices token, which Apple resolves to the campaign, ad group and ad: send it as `adservices_token` of `/fetch-token` and turn the look-up on, see [Attribution](attribution.md#apple-ads).',
  ],
  unverified: [
    'The look-up was tested against a stand-in that answers as Apple documents. Nobody has run it against Apple.',
  ],
  sources: ['https://developer.apple.com/documentation/adservices'],
};
