export { hashAddress } from './address.ts';
export { type Attributed, type Installation, namesClick, prepareAttribution } from './attribute-device.ts';
export { readClickId, signClickId } from './click-id.ts';
export { ClickRecord } from './click-record.ts';
export {
  type Credit,
  clickStatement,
  clickWasTaken,
  creditStatements,
  eraseClick,
  pruneClicks,
  selectClaim,
  undoCredits,
} from './clicks.ts';
export { parseOs } from './device.ts';
export { FIRST_IOS_AFTER_FROZEN, FROZEN_IOS } from './evidence.ts';
export { type Explanation, explainDevice } from './explain-device.ts';
export { findLatestClick } from './latest-click.ts';
export type { Attribution } from './match.ts';
export { PLAY_TIMES } from './play-referrer.ts';
export { METHODS, ruleOf } from './rules/list.ts';
