import * as z from 'zod';

/** The largest length of an `Idempotency-Key`, in characters. */
export const MAX_KEY_LENGTH = 512;

export const VerifyToken = z.object({ token: z.unknown().optional() });

const batchError = 'must be a list of 1 to 500 events';
export const Batch = z.object({
  events: z.array(z.unknown(), { error: batchError }).min(1, batchError).max(500, batchError),
});

const devicesError = 'must be a list of 1 to 200 devices';
export const DeviceBatch = z.object({
  devices: z.array(z.unknown(), { error: devicesError }).min(1, devicesError).max(200, devicesError),
});
