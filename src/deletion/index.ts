export { continueDeletions, DeletedApplication, deleteApplication } from './delete-application.ts';
export { deletionRoutes } from './routes.ts';
