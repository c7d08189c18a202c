// How long rows of the tables that grow with devices, purchases and campaigns are kept, so that the database does not grow with them for ever.
// `npm run capacity` computes its size from these.

/** Later, `/verify-token` works by the signature, and asks the counter whether the device was erased. As long as a queue may retain a message. */
export const TOKEN_ROW_DAYS = 14;

/** No store sends a notification again later: Google's push has the longest retention, 31 days. One that is held is kept for longer. */
export const NOTIFICATION_DAYS = 32;

/** Postbacks of SKAdNetwork and AdAttributionKit of an application. The report on them reaches no further. */
export const POSTBACK_DAYS = 180;

/** A month of the cube is merged so many days after its end. Fewer than a month has, so no more than two months are recent. */
export const HOT_DAYS = 27;
export const MAX_HOT_MONTHS = 2;

/** From so many bytes of one rollup and grain on, parts of a recent month are merged too. */
export const MAX_HOT_BYTES = 2_000_000;
