import * as z from 'zod';
import { listOfUpTo } from '#http';

/** The largest length of an `Idempotency-Key`, in characters. */
export const MAX_KEY_LENGTH = 512;

// The schemas are built when they are first used, because most isolates only receive single events.

export const VerifyToken = z.lazy(() => z.object({ token: z.unknown().optional() }));

/** Whether a batch is of an import: its times are then meant, and one that cannot be is refused instead of being dated when received. */
const isImport = z.boolean({ error: 'must be true or false' }).default(false).meta({
  description:
    'Whether these are imported: a time before 2010 is then refused, not taken for a clock that is not set.',
});

export const Batch = z.lazy(() =>
  z.object({ events: listOfUpTo(500, z.unknown(), 'events'), import: isImport }),
);

export const DeviceBatch = z.lazy(() =>
  z.object({ devices: listOfUpTo(200, z.unknown(), 'devices'), import: isImport }),
);
