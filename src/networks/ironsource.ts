import type { Network } from './network.ts';

export const ironsource: Network = {
  id: 'ironsource',
  name: 'ironSource',
  aliases: {
    aura: 'ironSource',
    supersonic: 'ironSource',
    ironsource_levelplay: 'LevelPlay',
    levelplay: 'LevelPlay',
  },
  roles: ['advertising', 'monetization', 'mediation'],
  clickIds: [],
  macros: {
    site_id: '{ApplicationId}',
    site_name: '{ApplicationName}',
    placement: '{AdType}',
  },
  skadnetworkIds: ['su67r6k2v3'],
  notes: ['LevelPlay is its mediation.'],
  unverified: ['Placeholders for the campaign and the creative exist, but their names were not found.'],
  sources: ['https://developers.is.com/ironsource-mobile/general/tracking-solutions'],
};
