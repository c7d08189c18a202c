import type { Network } from './network.ts';

export const tiktok: Network = {
  id: 'tiktok',
  name: 'TikTok',
  aliases: {
    bytedanceglobal: 'TikTok',
    tiktokglobal: 'TikTok',
  },
  roles: ['advertising'],
  clickIds: ['ttclid'],
  macros: {
    ttclid: '__CLICKID__',
    campaign_id: '__CAMPAIGN_ID__',
    campaign_name: '__CAMPAIGN_NAME__',
    adset_id: '__AID__',
    adset_name: '__AID_NAME__',
    ad_id: '__CID__',
    ad_name: '__CID_NAME__',
    placement: '__PLACEMENT__',
  },
  skadnetworkIds: ['22mmun2rn5'],
  notes: [
    'TikTok adds `ttclid` to links by itself in most campaigns.',
    'App install campaigns ask for a measurement partner of its list. Traffic campaigns take any link.',
  ],
  unverified: [
    'The SKAdNetwork id is that of Pangle, its network of apps. Whether ads in TikTok itself have another was not found.',
    '`__CLICKID__` is documented for web campaigns. For partners, the click id is `__CALLBACK_PARAM__`.',
  ],
  sources: [
    'https://ads.tiktok.com/help/article/tiktok-click-id',
    'https://ads.tiktok.com/help/article?aid=6669666107177041925',
  ],
};
