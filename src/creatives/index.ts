export { pruneCreativeRequests } from './get-or-create.ts';
export { CreativeRegistry } from './registry.ts';
export { creativeRoutes } from './routes.ts';
