export { hashAddress } from './address.ts';
export { creditAfterApple, isOpenToApple } from './apple-ads.ts';
export { APPLE_FIELDS, type AppleAd, type AppleAnswer, readAppleAnswer } from './apple-answer.ts';
export {
  type Attributed,
  type Installation,
  namesClick,
  type PlaceAd,
  prepareAttribution,
} from './attribute-device.ts';
export { readClickId, signClickId } from './click-id.ts';
export { ClickRecord } from './click-record.ts';
export {
  clickStatements,
  clickWasTaken,
  creditStatements,
  eraseClick,
  giveBackClick,
  pruneClicks,
  readClickParams,
  selectClaim,
  selectClickParams,
  undoCredits,
} from './clicks.ts';
export type { Credit } from './credit.ts';
export { parseOs } from './device.ts';
export { FIRST_IOS_AFTER_FROZEN, FROZEN_IOS } from './evidence.ts';
export { type Explanation, explainDevice } from './explain-device.ts';
export { pruneImpressions } from './impressions.ts';
export { findLatestClick } from './latest-click.ts';
export { type Attribution, MAX_REFUSED } from './match.ts';
export { type AdItems, findAdItems, idsOfLevel, type NetworkAd } from './network-ad.ts';
export { PLAY_TIMES } from './play-referrer.ts';
export { referrerWarnings } from './referrer.ts';
export { METHODS, ruleOf } from './rules/list.ts';
export { MAX_EXPLAINED } from './rules/probabilistic.ts';
export { isImpressionId } from './rules/rule.ts';
