import { guess, NO_CLICK_BITS, newestOfPersons } from './probabilistic.ts';
import type { MatchRule } from './rule.ts';

/**
 * An impression leads to an install far less often than a click: an estimate of a quarter as often as one that is as similar, in bits. An
 * address alone is then not enough.
 */
const RARER_BITS = 2;

/** The last impression at the device's own address. Weaker than any click. */
export const viewThrough: MatchRule = {
  method: 'view_through',
  label: 'View-through',
  reason: 'No click led to this device; an ad was shown at its network address, to a similar device.',
  guesses: true,
  match: ({ device, impressions }) => {
    const own = impressions.filter(({ ipHash }) => ipHash !== null && ipHash === device.ipHash);
    return own.length > 0 ? guess(device, newestOfPersons(own), NO_CLICK_BITS + RARER_BITS) : null;
  },
};
