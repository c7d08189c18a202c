import type { Network } from './network.ts';

export const admob: Network = {
  id: 'admob',
  name: 'AdMob',
  aliases: {
    google_admob: 'AdMob',
  },
  roles: ['monetization', 'mediation'],
  clickIds: [],
  macros: null,
  skadnetworkIds: ['cstr6suwn9'],
  notes: [
    'AdMob shows ads in your app. Campaigns are bought at Google.',
    'Rewarded callbacks of its servers carry no revenue: only the SDK reports paid events.',
  ],
  unverified: [],
  sources: ['https://developers.google.com/admob/android/ssv'],
};
