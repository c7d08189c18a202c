import type * as z from 'zod';
import { type EventKind, line } from '../kind.ts';
import { segmentWithoutDevice } from '../segments.ts';
import { storedWithoutDevice } from '../stored.ts';
import { touchFields } from './click.ts';

const Impression = storedWithoutDevice('impression', touchFields);
type Impression = z.infer<typeof Impression>;

/** A creative that was shown in another app, as its ad network reports. Ads shown in the application itself are of the kind `custom.ad`. */
export const impression = {
  type: 'impression',
  label: 'Creative impression',
  description: 'A creative that was shown in another app, as its ad network reports.',
  subject: 'creative',
  stored: Impression,
  wires: [],
  columns: [{ name: 'params', type: 'json' }],
  keepsKeys: false,
  steps: {},
  count(_event, into) {
    into.addDaily({ creative_impressions: 1 });
  },
  segmentOf: segmentWithoutDevice,
  stepOf: () => null,
  summarise: ({ country }) => line(country),
} as const satisfies EventKind<Impression>;
