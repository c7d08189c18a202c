import type { Network } from './network.ts';

export const moloco: Network = {
  id: 'moloco',
  name: 'Moloco',
  aliases: {
    molocodsp: 'Moloco',
  },
  roles: ['advertising'],
  clickIds: ['moloco_mtid', 'moloco_request_id'],
  macros: {
    moloco_mtid: '{{mtid}}',
    moloco_request_id: '{{request.id}}',
    campaign_id: '{{campaign.id}}',
    campaign_name: '{{campaign.title}}',
    adset_id: '{{adgroup.id}}',
    ad_id: '{{creative.cr_id}}',
    site_id: '{{publisher.bundle}}',
    cost: '{{price.cost_amount}}',
    cost_currency: '{{price.cost_currency}}',
  },
  skadnetworkIds: ['9t245vhmpl'],
  notes: ['Older campaigns use macros such as `%{bid_id}` instead.'],
  unverified: [],
  sources: [
    'https://help.moloco.com/hc/en-us/articles/8203544704535',
    'https://help.moloco.com/hc/en-us/articles/8205078550807',
  ],
};
