import type { AppleAnswer } from './apple-answer.ts';
import { doubtInstall } from './doubt-install.ts';
import type { Attribution } from './match.ts';
import { APPLE_ADS, ORGANIC, ruleOf } from './rules/list.ts';

/** An attribution that Apple may replace: organic, or a guess. A certain one stands, as does the network of a click id in the Play referrer. */
export const isOpenToApple = ({ method, play_referrer }: Attribution): boolean =>
  (method === ORGANIC || ruleOf(method)?.guesses === true) && !play_referrer?.network;

/**
 * The attribution of a device once Apple was asked. `fallback` is the one without Apple, and `creativeId` the creative of the ad, null if none
 * has its ids. Rules that doubt installs judge clicks, and Apple tells of none.
 */
export function creditAfterApple(
  fallback: Attribution,
  answer: AppleAnswer,
  creativeId: string | null,
  acquiredAt: number,
): Attribution {
  if (answer.outcome !== 'attributed') return { ...fallback, apple_ads: { outcome: answer.outcome } };
  const { method, creative_id, click_id, click_params, ...others } = fallback;
  const { doubts, doubt_facts, doubts_not_checked, excluded, ...kept } = others;
  const attributed: Attribution = {
    ...kept,
    ...{ method: APPLE_ADS, confidence: 1, creative_id: creativeId, click_id: null },
    ...{ ambiguous: false, earlier_installs: 0 },
    apple_ads: { outcome: 'attributed', ...answer.ad },
    replaced: { method, creative_id, click_id },
  };
  return doubtInstall(attributed, {
    ...{ addressClicks: null, clickedAt: null, acquiredAt, play: null, sourceDay: null, settings: {} },
  });
}
