export { answerHeaders, answerJson } from './answer-headers.ts';
export type { AppContext, AppEnv, AuthenticatedApplication, AuthenticatedTeam } from './context.ts';
export { CredentialCache } from './credential-cache.ts';
export {
  forgetCredentials,
  requireApiKey,
  requireBearerKey,
  requireDataCollection,
  requireTeamToken,
} from './credentials.ts';
export {
  AppError,
  accessDenied,
  answerError,
  describeFaults,
  type Fault,
  invalidRequest,
  takeError,
  toAppError,
  unavailable,
} from './errors.ts';
export * from './fields.ts';
export { requestLog } from './request-log.ts';
export { jsonBody, limitBody, queryString, toFaults } from './validate.ts';
