import { readingsOf } from '../../src/attribution/referrer.ts';
import { namingCreative } from '../../src/attribution/rules/named.ts';
import type { ClickFilter } from '../../src/attribution/rules/rule.ts';

// A new method of attribution and a new filter of clicks, which `changes.ts` adds to their lists.

export const utmContent = namingCreative({
  method: 'utm_content',
  label: 'UTM content',
  reason: 'The install referrer named the creative as its content.',
  creativeTokenIn: ({ install_referrer }) => [...readingsOf(install_referrer)][0]?.get('utm_content'),
});

export const refusedNetwork: ClickFilter = {
  id: 'refused_network',
  refuses: ({ network }) => (network === 'shady' ? 'its network is refused' : null),
};
