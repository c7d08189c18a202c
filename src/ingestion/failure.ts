import { type AppError, failure } from '#http';
import type { FetchTokenFailure } from './operations.ts';

/** The error body of `/fetch-token`. The specification fixes the text of two errors. */
export function fetchTokenFailure(error: AppError): FetchTokenFailure {
  switch (error.code) {
    case 'invalid_request':
      return { error: 'Bad request, data not formatted properly.', details: error.details };
    case 'unauthenticated':
      return { error: 'API key is not valid' };
    default:
      return failure(error);
  }
}
