import { scheduler } from 'node:timers/promises';

// The pure tests run in Node. Of what only workerd has as a global, the code that they test uses this.
Object.assign(globalThis, { scheduler });
