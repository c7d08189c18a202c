export {
  createAccessToken,
  endAccessTokens,
  listAccessTokens,
  revokeAccessToken,
  takeOverAccessToken,
} from './access-tokens.ts';
export { listKeysInGrace, replaceApiKey, revealApiKey } from './api-keys.ts';
export { assignAppStoreApp, findByAppStoreId, finishMove, refreshAppStoreIds } from './app-store-id.ts';
export {
  ApplicationChanges,
  changeApplication,
  createApplication,
  createTeam,
  NewApplication,
  Replacement,
  showApplication,
} from './applications.ts';
export { ImpressionTemplateChoice, OwnImpressionTemplate } from './impression-template.ts';
export {
  authenticateIntake,
  type IntakeApplication,
  type IntakeEnv,
  refuseOtherMethods,
  requireIntakeSecret,
} from './intake.ts';
export { listIntakeSecrets, replaceIntakeSecret } from './intake-secrets.ts';
export {
  type ApplicationRow,
  applicationNotFound,
  findApplication,
  findApplicationByKey,
  getApplication,
  listApplications,
  nameOf,
  ownApplication,
} from './own-application.ts';
export { pruneCredentials } from './prune-credentials.ts';
