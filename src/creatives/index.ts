export { changeExternalId } from './change-ids.ts';
export { createCreative, NewCreativeNames, parseCreative } from './create-creative.ts';
export { ExternalId, listExternalIds } from './external-ids.ts';
export { countNewCreatives, findCreativeIds } from './find-ids.ts';
export { findNames, MAX_NAMES, searchNames } from './find-names.ts';
export { pruneCreativeRequests } from './get-or-create.ts';
export { getOrCreateNamed } from './get-or-create-named.ts';
export { listAdsets, listCampaigns } from './groups.ts';
export {
  countInventory,
  type InventoryItem,
  type InventoryQuery,
  listInventory,
  MAX_INVENTORY,
  tokensOf,
} from './inventory.ts';
export { INVENTORY_LEVELS } from './levels.ts';
export { CreativeChanges, changeCreative, getCreative, listNewestFor } from './list.ts';
export { findStoredNames, type NamePath } from './stored-names.ts';
