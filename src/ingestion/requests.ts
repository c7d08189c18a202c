import * as z from 'zod';
import { listOfUpTo } from '#http';

/** The largest length of an `Idempotency-Key`, in characters. */
export const MAX_KEY_LENGTH = 512;

// The schemas are built when they are first used, because most isolates only receive single events.

export const VerifyToken = z.lazy(() => z.object({ token: z.unknown().optional() }));

export const Batch = z.lazy(() => z.object({ events: listOfUpTo(500, z.unknown(), 'events') }));

export const DeviceBatch = z.lazy(() => z.object({ devices: listOfUpTo(200, z.unknown(), 'devices') }));
