import * as z from 'zod';

/** The largest length of an `Idempotency-Key`, in characters. */
export const MAX_KEY_LENGTH = 512;

// The schemas are built when they are first used, because most isolates only receive single events.

export const VerifyToken = z.lazy(() => z.object({ token: z.unknown().optional() }));

const batchError = 'must be a list of 1 to 500 events';
export const Batch = z.lazy(() =>
  z.object({
    events: z.array(z.unknown(), { error: batchError }).min(1, batchError).max(500, batchError),
  }),
);

const devicesError = 'must be a list of 1 to 200 devices';
export const DeviceBatch = z.lazy(() =>
  z.object({
    devices: z.array(z.unknown(), { error: devicesError }).min(1, devicesError).max(200, devicesError),
  }),
);
