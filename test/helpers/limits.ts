/** A rate limit that records its keys and refuses those that `refuses` picks. */
export function watchedLimit(refuses: (key: string) => boolean = () => false) {
  const keys: string[] = [];
  const binding: RateLimit = {
    limit: async ({ key }) => {
      keys.push(key);
      return { success: !refuses(key) };
    },
  };
  return { keys, binding };
}

/** Lets `max` requests of each key pass, then none. */
export function countingLimit(max: number): RateLimit {
  const counts = new Map<string, number>();
  return {
    limit: async ({ key }) => {
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      return { success: count <= max };
    },
  };
}

/**
 * Limits that let everything pass, as counters in memory, which production's are too. The local simulation writes each request into a
 * database on disk: that costs more than all the rest of a webhook, and says nothing of production.
 */
export const unlimited = {
  API_KEY_LIMIT: countingLimit(Number.POSITIVE_INFINITY),
  TEAM_TOKEN_LIMIT: countingLimit(Number.POSITIVE_INFINITY),
  UNKNOWN_CREDENTIAL_LIMIT: countingLimit(Number.POSITIVE_INFINITY),
  SIGN_IN_LIMIT: countingLimit(Number.POSITIVE_INFINITY),
  SIGN_IN_EMAIL_LIMIT: countingLimit(Number.POSITIVE_INFINITY),
  SIGN_IN_ADDRESS_LIMIT: countingLimit(Number.POSITIVE_INFINITY),
};
