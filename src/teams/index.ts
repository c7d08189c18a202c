export { createAccessToken, listAccessTokens, revokeAccessToken } from './access-tokens.ts';
export { listKeysInGrace, replaceApiKey, revealApiKey } from './api-keys.ts';
export {
  ApplicationChanges,
  changeApplication,
  createApplication,
  createTeam,
  NewApiKey,
  NewApplication,
} from './applications.ts';
export { continueDeletions, DeletedApplication, deleteApplication } from './delete-application.ts';
export {
  type ApplicationRow,
  findApplication,
  findApplicationByKey,
  getApplication,
  listApplications,
} from './own-application.ts';
export { pruneCredentials } from './prune-credentials.ts';
export { teamRoutes } from './routes.ts';
