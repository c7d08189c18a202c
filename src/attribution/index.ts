export { hashAddress } from './address.ts';
export { type Attributed, type Installation, prepareAttribution } from './attribute-device.ts';
export { readClickId, signClickId } from './click-id.ts';
export {
  ClickCountry,
  ClickParams,
  ClickRecord,
  MAX_CLICK_PARAM_CHARS,
  MAX_CLICK_PARAMS,
} from './click-record.ts';
export {
  type Credit,
  clickStatement,
  clickWasTaken,
  creditStatements,
  pruneClicks,
  undoCredits,
} from './clicks.ts';
export { OS_FAMILIES, type OsFamily, parseOs } from './device.ts';
export { type Explanation, explainDevice } from './explain-device.ts';
export { findLatestClick } from './latest-click.ts';
export type { Attribution } from './match.ts';
