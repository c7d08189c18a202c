import * as z from 'zod';
import { type EventKind, line } from '../kind.ts';
import { optionalText, storedOfDevice, text } from '../stored.ts';

const Install = storedOfDevice('install', () => ({
  /** How the device was attributed, and the probability that this is right, from 0 to 1. */
  attribution_method: optionalText,
  attribution_confidence: z.number().min(0).max(1).optional(),
  /** The rules that doubted it. */
  doubts: z.array(text).optional(),
}));
type Install = z.infer<typeof Install>;

/** A device's first token, for which the service itself creates the event. */
export const install = {
  type: 'install',
  label: 'Install',
  description: 'The first time a device is seen.',
  subject: 'device',
  stored: Install,
  wires: [],
  columns: [
    { name: 'attribution_method', type: 'text' },
    { name: 'attribution_confidence', type: 'double' },
    { name: 'doubts', type: 'json' },
  ],
  keepsKeys: false,
  steps: { install: 'Install' },
  count({ doubts = [] }, into) {
    into.addDaily({ installs: 1, ...(doubts.length > 0 ? { doubted_installs: 1 } : {}) });
  },
  stepOf: () => 'install',
  outboundAs: () => 'install',
  summarise: ({ attribution_method }) => line(attribution_method),
} as const satisfies EventKind<Install>;
