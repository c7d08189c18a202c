import type * as z from 'zod';
import type { EventKind } from '../kind.ts';
import { storedOfDevice } from '../stored.ts';

const Install = storedOfDevice('install', () => ({}));
type Install = z.infer<typeof Install>;

/** A device's first token, for which the service itself creates the event. */
export const install = {
  type: 'install',
  label: 'Install',
  description: 'The first time a device is seen.',
  subject: 'device',
  stored: Install,
  wires: [],
  columns: [],
  keepsKeys: false,
  steps: { install: 'Install' },
  count(_event, into) {
    into.addDaily({ installs: 1 });
  },
  stepOf: () => 'install',
  summarise: () => '',
} as const satisfies EventKind<Install>;
