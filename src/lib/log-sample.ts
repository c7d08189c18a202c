import { murmur128 } from './murmur.ts';

/** One in this many successes is logged, with the number in the line's field `sampled`. */
export const LOG_SAMPLE = 100;

/** Whether to log the lines of a request or message. It is the same for every line with one id, so that they stay together. */
export const isSampled = (id: string): boolean => murmur128(id)[0] % LOG_SAMPLE === 0;
