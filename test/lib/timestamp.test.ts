import { expect, it } from 'vitest';
import { readEpochOrText } from '#lib/timestamp';

it.each([
  ['1772532000', Date.UTC(2026, 2, 3, 10)],
  ['1772532000123', Date.UTC(2026, 2, 3, 10) + 123],
  ['2026-03-03T10:00:00Z', Date.UTC(2026, 2, 3, 10)],
  ['2026-03-03T12:00:00+02:00', Date.UTC(2026, 2, 3, 10)],
  ['2026-03-03 10:00:00', Date.UTC(2026, 2, 3, 10)],
  ['2026-03-03T10:00:00', null],
  ['2026-02-30T10:00:00Z', null],
  ['177253200', null],
  ['17725320001', null],
  ['3 March 2026', null],
  ['', null],
])('reads %j as %j', (text, at) => expect(readEpochOrText(text)).toBe(at));
