export { continueDeletions, DeletedApplication } from './delete-application.ts';
export { deletionRoutes } from './routes.ts';
