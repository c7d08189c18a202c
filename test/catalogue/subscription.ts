import * as z from 'zod';
import { requiredName } from '#lib/input/fields';
import { type EventKind, line, type Rollups } from '../../src/catalogue/kind.ts';
import { type OwnFields, storedOfDevice, text } from '../../src/catalogue/stored.ts';
import { payload, wireForm } from '../../src/catalogue/wire.ts';

// A kind of event as a file of `src/catalogue/events` would describe it, with its own measure.

const PERIODS = ['month', 'year'] as const;

const Subscription = storedOfDevice('custom.subscription', () => ({ plan: text, period: z.enum(PERIODS) }));
type Subscription = z.infer<typeof Subscription>;

const asSubscription = wireForm(
  'custom.subscription',
  payload({ plan: requiredName(), every: z.enum(PERIODS, { error: 'must be month or year' }) }),
  {
    examples: { 'custom.subscription': { plan: 'gold', every: 'month' } },
    keyScope: ({ every }) => every,
    toStored: ({ plan, every }): OwnFields<Subscription> => ({ plan, period: every }),
  },
);

export const subscription = {
  type: 'custom.subscription',
  label: 'Subscription',
  description: 'A subscription was taken out.',
  subject: 'device',
  stored: Subscription,
  wires: [asSubscription],
  columns: [
    { name: 'plan', type: 'text' },
    { name: 'every', type: 'text', field: 'period' },
  ],
  keepsKeys: true,
  steps: { subscription: 'Subscription' },
  count(_event, into) {
    // A measure that the test adds to the catalogue, so unknown to the types.
    into.addDaily({ subscriptions: 1 } as Parameters<Rollups['addDaily']>[0]);
  },
  stepOf: () => 'subscription',
  summarise: ({ plan, every }) => line(plan, every),
  toWire: ({ plan, period }) => ({ type: 'custom.subscription', payload: { plan, every: period } }),
} as const satisfies EventKind<Subscription>;
