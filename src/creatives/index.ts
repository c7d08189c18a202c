export { changeExternalId, listIdsWithin } from './change-ids.ts';
export { CreativeNames, createCreative, parseCreative } from './create-creative.ts';
export { ExternalId } from './external-ids.ts';
export { findCreativeIds } from './find-ids.ts';
export { findNames, MAX_NAMES, type NamedKind, searchNames } from './find-names.ts';
export { findNewCreatives } from './find-new.ts';
export { pruneCreativeRequests } from './get-or-create.ts';
export { getOrCreateNamed } from './get-or-create-named.ts';
export { listAdsets, listCampaigns } from './groups.ts';
export {
  countInventory,
  INVENTORY_LEVELS,
  type InventoryItem,
  type InventoryLevel,
  type InventoryQuery,
  listInventory,
  MAX_INVENTORY,
  tokensOf,
} from './inventory.ts';
export { CreativeChanges, changeCreative, getCreative, listNewestFor } from './list.ts';
