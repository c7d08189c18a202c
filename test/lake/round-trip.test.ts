import { it } from 'vitest';
import { checkRoundTrip } from './round-trip.ts';

it('files give back every event as it was, but for the keys that only purchases keep', () =>
  checkRoundTrip(25));
