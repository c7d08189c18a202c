import type * as z from 'zod';
import type { EventKind } from '../kind.ts';
import { storedWithoutDevice } from '../stored.ts';
import { ofTouch, touchFields } from './click.ts';

const ImpressionEvent = storedWithoutDevice('impression', touchFields);
type ImpressionEvent = z.infer<typeof ImpressionEvent>;

/** A creative that was shown in another app, as its ad network reports. Ads shown in the application itself are of the kind `custom.ad`. */
export const impression = {
  ...ofTouch,
  type: 'impression',
  label: 'Creative impression',
  description: 'A creative that was shown in another app, as its ad network reports.',
  stored: ImpressionEvent,
  count(_event, into) {
    into.addDaily({ creative_impressions: 1 });
  },
} as const satisfies EventKind<ImpressionEvent>;
