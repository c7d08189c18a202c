import { murmur128 } from './murmur.ts';

/** Of what went right one in so many is logged; a line that stands for others says so in its field `sampled`. */
export const LOG_SAMPLE = 100;

/** Whether the lines of a request or message are logged: always the same for one id, so that its lines stay together. */
export const isSampled = (id: string): boolean => murmur128(id)[0] % LOG_SAMPLE === 0;
