import { type AppError, failure } from '#http';
import type { FetchTokenFailure } from './answers.ts';

/** The specification fixes the text of two errors. */
function fetchTokenFailure(error: AppError): FetchTokenFailure {
  switch (error.code) {
    case 'invalid_request':
      return { error: 'Bad request, data not formatted properly.', details: error.details };
    case 'unauthenticated':
      return { error: 'API key is not valid' };
    default:
      return failure(error);
  }
}

/** The ingestion API's error body. That of `/fetch-token` differs. */
export const ingestionFailure = (error: AppError, path: string) =>
  path === '/fetch-token' ? fetchTokenFailure(error) : failure(error);
