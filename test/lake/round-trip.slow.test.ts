import { it } from 'vitest';
import { checkRoundTrip } from './round-trip.ts';

const TIMEOUT_MS = 240_000;

it(
  'files return every event unchanged, except for the keys that only purchases keep',
  () => checkRoundTrip(400, TIMEOUT_MS - 10_000),
  TIMEOUT_MS,
);
