import type * as z from 'zod';
import type { EventKind } from '../kind.ts';
import { storedWithoutDevice } from '../stored.ts';
import { ofTouch, touchFields } from './click.ts';

const Impression = storedWithoutDevice('impression', touchFields);
type Impression = z.infer<typeof Impression>;

/** A creative that was shown in another app, as its ad network reports. Ads shown in the application itself are of the kind `custom.ad`. */
export const impression = {
  ...ofTouch,
  type: 'impression',
  label: 'Creative impression',
  description: 'A creative that was shown in another app, as its ad network reports.',
  stored: Impression,
  count(_event, into) {
    into.addDaily({ creative_impressions: 1 });
  },
} as const satisfies EventKind<Impression>;
