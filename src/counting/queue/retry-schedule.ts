/** When failed messages are delivered again. `max_retries` in wrangler.toml ends each queue's attempts; a test computes the times. */

const HOUR_SECONDS = 3600;
const MAX_DELAY_SECONDS = 300;

/** After an attempt at a message of the event queue (1 is the first): from 2 s to 5 min. */
export const eventDelaySeconds = (attempt: number): number => Math.min(2 ** attempt, MAX_DELAY_SECONDS);

/** After an attempt at a dead letter. */
export const DEAD_LETTER_DELAY_SECONDS = HOUR_SECONDS;

/**
 * The attempt from which a dead letter that D1 does not accept is filed in R2: after four days of hourly attempts. The queue must allow a few
 * more, in case R2 fails too, and must retain messages for longer.
 */
export const FILED_FROM_ATTEMPT = 97;
