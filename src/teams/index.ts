export {
  ApplicationChanges,
  type ApplicationRow,
  changeApplication,
  createApplication,
  createTeam,
  findApplication,
  getApplication,
  listApplications,
  NewApiKey,
  NewApplication,
  replaceApiKey,
} from './applications.ts';
export {
  createAccessToken,
  listAccessTokens,
  listKeysInGrace,
  revealApiKey,
  revokeAccessToken,
} from './keys.ts';
export { pruneCredentials } from './prune-credentials.ts';
export { teamRoutes } from './routes.ts';
