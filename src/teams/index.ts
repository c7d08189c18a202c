export {
  ApplicationChanges,
  createApplication,
  createTeam,
  getApplication,
  NewApiKey,
  NewApplication,
} from './applications.ts';
export { createAccessToken } from './keys.ts';
export { pruneCredentials } from './prune-credentials.ts';
export { teamRoutes } from './routes.ts';
