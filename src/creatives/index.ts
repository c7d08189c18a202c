export { CreativeNames, createCreative, NewCreative, parseCreative } from './create-creative.ts';
export { pruneCreativeRequests } from './get-or-create.ts';
export {
  archiveCreative,
  CreativeChanges,
  getCreative,
  ListQuery,
  listAdsets,
  listCampaigns,
  listCreatives,
} from './list.ts';
export { CreativeRegistry } from './registry.ts';
export { creativeRoutes } from './routes.ts';
