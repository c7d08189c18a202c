import { it } from 'vitest';
import { checkRoundTrip } from './round-trip.ts';

it('files return every event unchanged, except for the keys that only purchases keep', () =>
  checkRoundTrip(400));
