/** A network of which nothing is known here but how it is called and how it appears in links. */
type OtherNetwork = {
  /** In lower case. */
  id: string;
  name: string;
  aliases?: readonly string[];
  clickIds?: readonly string[];
};

/** Networks that show your ads, ads in your app, or both. Names as MAX, LevelPlay and the exports of attribution services have them. */
export const OTHER_NETWORKS: readonly OtherNetwork[] = [
  { id: 'adcolony', name: 'AdColony' },
  { id: 'amazon', name: 'Amazon', aliases: ['amazon ads', 'amazon dsp'] },
  { id: 'aps', name: 'Amazon Publisher Services', aliases: ['amazon aps', 'amazon marketplace', 'tam'] },
  { id: 'bidmachine', name: 'BidMachine' },
  { id: 'bigo', name: 'BIGO Ads', aliases: ['bigoads', 'bigo ad network'] },
  { id: 'chartboost', name: 'Chartboost', aliases: ['chartboosts2s', 'chartboost mediation'] },
  { id: 'digitalturbine', name: 'Digital Turbine' },
  {
    id: 'fyber',
    name: 'DT Exchange',
    aliases: ['fyber marketplace', 'digital turbine exchange', 'inneractive'],
  },
  {
    ...{ id: 'google_ad_manager', name: 'Google Ad Manager' },
    aliases: ['gam', 'google ad manager native', 'admanager', 'dfp'],
  },
  { id: 'inmobi', name: 'InMobi', aliases: ['inmobidsp', 'inmobi dsp'] },
  { id: 'linkedin', name: 'LinkedIn', clickIds: ['li_fat_id'] },
  { id: 'microsoft', name: 'Microsoft', aliases: ['bing', 'bing ads'], clickIds: ['msclkid'] },
  { id: 'mobilefuse', name: 'MobileFuse' },
  { id: 'mytarget', name: 'myTarget', aliases: ['vk ad network'] },
  { id: 'ogury', name: 'Ogury', aliases: ['ogury presage'] },
  {
    id: 'pangle',
    name: 'Pangle',
    aliases: ['bytedance', 'tiktok_bidding', 'tiktok_network', 'tiktok pangle'],
  },
  { id: 'pinterest', name: 'Pinterest', clickIds: ['epik'] },
  { id: 'reddit', name: 'Reddit', clickIds: ['rdt_cid'] },
  { id: 'smaato', name: 'Smaato' },
  { id: 'tapjoy', name: 'Tapjoy' },
  { id: 'verve', name: 'Verve', aliases: ['verve group', 'hybid', 'pubnative'] },
  { id: 'x', name: 'X', aliases: ['twitter'], clickIds: ['twclid'] },
  { id: 'yandex', name: 'Yandex', aliases: ['yandex direct'] },
];
