import { paramsOf } from '../device-report.ts';
import type { MatchRule } from './rule.ts';

type NamingRule = Omit<MatchRule, 'match' | 'guesses'>;

const CERTAIN = { confidence: 1, ambiguous: false, earlier_installs: 0, candidates: [] };

/** A rule by which the device names a click. */
const namingClick = (rule: NamingRule & Required<Pick<MatchRule, 'clickIdIn'>>): MatchRule => ({
  ...rule,
  match: ({ named }) => {
    const { click } = named.find(({ method }) => method === rule.method) ?? {};
    if (!click) return null;
    const { id: click_id, creativeId: creative_id, namedInstalls: earlier_installs } = click;
    return { ...CERTAIN, creative_id, click_id, earlier_installs };
  },
});

/** A rule by which the device names a creative. */
export const namingCreative = (rule: NamingRule): MatchRule => ({
  ...rule,
  match: ({ creatives }) => {
    const creative_id = creatives[rule.method];
    return creative_id ? { ...CERTAIN, creative_id, click_id: null } : null;
  },
});

export const referrer = namingClick({
  method: 'referrer',
  label: 'Install referrer',
  reason: 'The store named a click within the attribution window.',
  clickIdIn: ({ install_referrer }) => paramsOf(install_referrer)?.click_id,
});

export const clickId = namingClick({
  method: 'click_id',
  label: 'Click id',
  reason: 'Your backend named a click within the attribution window.',
  clickIdIn: ({ click_id }) => click_id,
});

/** The creative is found by the id of Meta's ad, which only a key decrypts: see `meta-referrer.ts`. */
export const metaReferrer = namingCreative({
  method: 'meta_referrer',
  label: 'Meta referrer',
  reason: 'The Play Store reported the ad, in Meta’s install referrer.',
  network: 'meta',
});

export const deepLink = namingCreative({
  method: 'deep_link',
  label: 'Deep link',
  reason: 'Your backend named the creative of a deep link.',
  creativeTokenIn: ({ creative_token }) => creative_token,
});
