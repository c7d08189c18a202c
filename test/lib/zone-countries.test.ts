import { expect, it } from 'vitest';
import { countryOfTimezone } from '#lib/zone-countries';

it.each([
  ['Europe/Berlin', 'de'],
  ['America/Argentina/Buenos_Aires', 'ar'],
  ['America/Buenos_Aires', 'ar'],
  ['Asia/Calcutta', 'in'],
  ['Iceland', 'is'],
  ['america/new_york', 'us'],
  ['UTC', null],
  ['Etc/GMT+3', null],
  ['', null],
  ['2026-11-10T09:00:00.058Z', null],
])('%s is in %s', (timezone, country) => {
  expect(countryOfTimezone(timezone)).toBe(country);
});
