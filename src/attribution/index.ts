export { hashAddress } from './address.ts';
export { attributeDevice } from './attribute-device.ts';
export { readClickId, signClickId } from './click-id.ts';
export {
  ClickCountry,
  ClickParams,
  ClickRecord,
  MAX_CLICK_PARAM_CHARS,
  MAX_CLICK_PARAMS,
} from './click-record.ts';
export { clickStatement, clickWasTaken, creditStatement, pruneClicks } from './clicks.ts';
export type { OsFamily } from './device.ts';
export { type Explanation, explainDevice } from './explain-device.ts';
export type { Attribution } from './match.ts';
