import type { Context } from 'hono';
import { networkOf } from '#lib/network';
import { AppError } from './errors.ts';

/** The caller's address. */
export const addressOf = (c: Pick<Context, 'req'>): string => c.req.header('cf-connecting-ip') ?? 'unknown';

/** The key under which requests without a credential are counted: the network of the caller, who may have 2^64 addresses of it. */
export function callerNetwork(c: Pick<Context, 'req'>): string {
  const address = addressOf(c);
  return networkOf(address) ?? address;
}

/**
 * Counts a request against a limit and throws `rate_limited` beyond it. In production the counter is in the machine's memory, so the
 * check costs no network request.
 */
export async function requireWithin(
  limiter: RateLimit,
  key: string,
  refusal: { message?: string; retryAfterSeconds?: number } = {},
): Promise<void> {
  const { success } = await limiter.limit({ key });
  if (success) return;
  const { message = 'Too many requests', retryAfterSeconds = 10 } = refusal;
  throw new AppError('rate_limited', message, { headers: { 'Retry-After': String(retryAfterSeconds) } });
}
