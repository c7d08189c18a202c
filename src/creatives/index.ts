export { NewCreative } from './create-creative.ts';
export { pruneCreativeRequests } from './get-or-create.ts';
export { CreativeChanges, ListQuery } from './list.ts';
export { CreativeRegistry } from './registry.ts';
export { creativeRoutes } from './routes.ts';
