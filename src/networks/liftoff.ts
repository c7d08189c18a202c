import type { Network } from './network.ts';

export const liftoff: Network = {
  id: 'liftoff',
  name: 'Liftoff',
  aliases: {},
  roles: ['advertising', 'monetization'],
  clickIds: [],
  macros: {},
  skadnetworkIds: ['7ug5zh24hu'],
  notes: [],
  unverified: [
    'No public list of macros was found. The link is offered without any; ask your account manager for them.',
  ],
  sources: ['https://liftoff.io'],
};
