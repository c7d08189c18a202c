import { type AppError, failure } from '#http';
import type { FetchTokenFailure } from './operations.ts';

/** The body of an error of `/fetch-token`, for two of which the specification gives the text. */
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
