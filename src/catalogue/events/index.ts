import { ad } from './ad.ts';
import { click } from './click.ts';
import { custom } from './custom.ts';
import { impression } from './impression.ts';
import { install } from './install.ts';
import { mediatedAd } from './mediated-ad.ts';
import { purchase } from './purchase.ts';
import { retention } from './retention.ts';
import { store } from './store.ts';

/** Every kind of event, in the order used in lists. */
export const EVENT_KINDS = [
  install,
  retention,
  purchase,
  ad,
  custom,
  click,
  impression,
  store,
  mediatedAd,
] as const;
