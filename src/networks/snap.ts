import type { Network } from './network.ts';

export const snap: Network = {
  id: 'snap',
  name: 'Snap',
  aliases: {
    snapchat: 'Snap',
  },
  roles: ['advertising'],
  clickIds: ['ScCid', 'sccid'],
  macros: {
    campaign_id: '{{campaign.id}}',
    campaign_name: '{{campaign.name}}',
    adset_id: '{{adSet.id}}',
    adset_name: '{{adSet.name}}',
    ad_id: '{{ad.id}}',
    site_name: '{{site_source_name}}',
  },
  skadnetworkIds: [],
  notes: ['Snap adds `ScCid` to links by itself.'],
  unverified: ['The macros are from guides of tools that use them, not from Snap.'],
  sources: ['https://urlmacros.com/snapchat.html'],
};
