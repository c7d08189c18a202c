import type { Network } from './network.ts';

export const applovin: Network = {
  id: 'applovin',
  name: 'AppLovin',
  aliases: {
    alx: 'AppLovin',
    applovin_max: 'AppLovin MAX',
    max: 'AppLovin MAX',
  },
  roles: ['advertising', 'monetization', 'mediation'],
  clickIds: ['applovin_event_id'],
  macros: {
    applovin_event_id: '{EVENT_ID}',
    campaign_id: '{CAMPAIGN_ID}',
    campaign_name: '{CAMPAIGN_NAME}',
    ad_id: '{CREATIVE_SET_ID}',
    ad_name: '{CREATIVE_SET}',
    site_id: '{APP_ID}',
    placement: '{PLACEMENT_ID}',
    country: '{CC}',
  },
  skadnetworkIds: ['ludvb6z3bs'],
  notes: [
    '`{CAMPAIGN_ID}`, `{CREATIVE_SET_ID}` and `{APP_ID}` are hashed ids.',
    'AppLovin requires `{IDFA}` and `{DID}` in links of app campaigns. They identify a device and are left out here.',
  ],
  unverified: ['App campaigns are documented with measurement partners only.'],
  sources: ['https://support.axon.ai/en/growth/promoting-your-apps/tracking/tracking-url-macros'],
};
