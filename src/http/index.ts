export * from '#lib/input/fields';
export { answerJson, answerRedirect } from './answer-headers.ts';
export {
  type AppContext,
  type AppEnv,
  type AuthenticatedApplication,
  type KeepAlive,
  keepAliveOf,
} from './context.ts';
export { authenticate, bearerOf, findTeam, forgetCredentials, requireDataCollection } from './credentials.ts';
export { INGESTION_PATHS } from './cross-origin.ts';
export { afterKeyCursor, idOf, keyCursor, pageOf, toKeyCursor } from './cursor.ts';
export {
  commaSeparated,
  type Endpoint,
  EXAMPLE,
  endpoint,
  missing,
  mount,
  withExamples,
} from './endpoint.ts';
export {
  AppError,
  accessDenied,
  answerError,
  describeFaults,
  documentationAnchor,
  type ErrorBody,
  failure,
  invalidRequest,
  takeError,
  teamFailure,
  toAppError,
  unavailable,
} from './errors.ts';
export { everyRequest } from './every-request.ts';
export { givingWay, noteArrival } from './giving-way.ts';
export { HeldKinds, type RequestSample } from './held-kinds.ts';
export { LookupCache } from './lookup-cache.ts';
export { ACCEPTED, noteAbsent, readAbsent } from './note-absent.ts';
export { addressOf, callerNetwork, requireWithin } from './rate-limit.ts';
export { inLongReportSlot, inReportSlot, requireLongReportSlot, requireReportSlot } from './report-slots.ts';
export { exactJsonBody, jsonBody, limitBody, MAX_JSON_BODY_BYTES, readAs, toFaults } from './validate.ts';
export { addWarnings } from './warnings-header.ts';
