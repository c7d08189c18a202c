import { expect, it } from 'vitest';
import {
  MAX_SEGMENTS,
  OTHER_VALUE,
  SegmentBook,
  segmentId,
  storedSegment,
  UNKNOWN_SEGMENT,
} from '#catalogue';

const android = (country: string, app_version: string) => ({
  ...UNKNOWN_SEGMENT,
  ...{ country, os: 'android', app_version },
});

it('gives a segment the same id in every counter, and every segment a different one', () => {
  const [first, second] = [new SegmentBook(), new SegmentBook()];
  second.idOf(android('fr', '9'));
  const id = first.idOf(android('de', '1.0'));
  expect(second.idOf(android('de', '1.0'))).toBe(id);
  expect(id).toBe(segmentId(android('de', '1.0')));
  expect(Number.isSafeInteger(id)).toBe(true);
  // The bounds between values matter, and which dimension has one.
  expect(segmentId({ ...UNKNOWN_SEGMENT, country: 'd', os: 'e' })).not.toBe(
    segmentId({ ...UNKNOWN_SEGMENT, country: 'de' }),
  );
  expect(segmentId({ ...UNKNOWN_SEGMENT, app_version: '1' })).not.toBe(
    segmentId({ ...UNKNOWN_SEGMENT, sdk_version: '1' }),
  );
});

it('reads a segment that another release stored', () => {
  const stored = { sdk_version: '2', unknown: 'x', app_version: '1', os: 'android' };
  expect(storedSegment(stored)).toEqual({ ...android('', '1'), sdk_version: '2' });
});

it('adds each new segment once', () => {
  const book = new SegmentBook([segmentId(android('de', '1'))]);
  for (const version of ['1', '2', '2']) book.idOf(android('de', version));
  expect(book.added).toEqual([{ id: segmentId(android('de', '2')), ...android('de', '2') }]);
});

it('distinguishes a limited number of segments: beyond it, versions become other, then everything but the OS', () => {
  const book = new SegmentBook();
  for (let index = 0; index < MAX_SEGMENTS; index++) book.idOf(android('de', `1.${index}`));
  const versions = { app_version: OTHER_VALUE, sdk_version: OTHER_VALUE };
  const coarse = (country: string, more: object = {}) => ({ ...android(country, ''), ...versions, ...more });
  expect(book.idOf(android('de', '1.7'))).toBe(segmentId(android('de', '1.7')));
  expect(book.idOf({ ...android('fr', 'new'), sdk_version: '1', network: 'meta' })).toBe(
    segmentId(coarse('fr', { network: 'meta' })),
  );
  for (let index = 0; index < 20_000; index++) book.idOf(android(`c${index}`, `2.${index}`));
  expect(book.added.length).toBeLessThan(MAX_SEGMENTS + 1_010);
  expect(book.idOf({ ...android('last', '1'), network: 'tiktok' })).toBe(
    segmentId(coarse(OTHER_VALUE, { network: OTHER_VALUE })),
  );
  expect(book.idOf(android('de', '1.7'))).toBe(segmentId(android('de', '1.7')));
});
