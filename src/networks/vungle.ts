import type { Network } from './network.ts';

export const vungle: Network = {
  id: 'vungle',
  name: 'Vungle',
  aliases: {
    liftoff_monetize: 'Vungle',
  },
  roles: ['monetization'],
  clickIds: [],
  macros: null,
  skadnetworkIds: ['gta9lk7p23'],
  notes: ['Vungle is the monetization side of Liftoff. Campaigns are bought at Liftoff.'],
  unverified: [],
  sources: ['https://liftoff.io'],
};
