import { it } from 'vitest';
import { isThorough } from '../helpers/thorough.ts';
import { checkRoundTrip } from './round-trip.ts';

it('files return every event unchanged, except for the keys that only purchases keep', () =>
  checkRoundTrip(isThorough ? 400 : 80));
