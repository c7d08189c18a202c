import { expect, it } from 'vitest';
import { MAX_SEGMENTS, OTHER_VALUE, SegmentBook, segmentId } from '#catalogue';

const android = (country: string, appVersion: string) => ({ country, os: 'android', appVersion });

it('gives a segment the same id in every counter, and every segment a different one', () => {
  const [first, second] = [new SegmentBook(), new SegmentBook()];
  second.idOf(android('fr', '9'));
  const id = first.idOf(android('de', '1.0'));
  expect(second.idOf(android('de', '1.0'))).toBe(id);
  expect(id).toBe(segmentId(android('de', '1.0')));
  expect(Number.isSafeInteger(id)).toBe(true);
  // The parts are no one text.
  expect(segmentId({ country: 'd', os: 'e', appVersion: '' })).not.toBe(
    segmentId({ country: 'de', os: '', appVersion: '' }),
  );
});

it('adds each new segment once', () => {
  const book = new SegmentBook([segmentId(android('de', '1'))]);
  for (const version of ['1', '2', '2']) book.idOf(android('de', version));
  expect(book.added).toEqual([{ id: segmentId(android('de', '2')), ...android('de', '2') }]);
});

it('distinguishes a limited number of segments: beyond it, the version becomes other, then the country', () => {
  const book = new SegmentBook();
  for (let index = 0; index < MAX_SEGMENTS; index++) book.idOf(android('de', `1.${index}`));
  expect(book.idOf(android('de', '1.7'))).toBe(segmentId(android('de', '1.7')));
  expect(book.idOf(android('fr', 'new'))).toBe(segmentId(android('fr', OTHER_VALUE)));
  for (let index = 0; index < 20_000; index++) book.idOf(android(`c${index}`, `2.${index}`));
  expect(book.added.length).toBeLessThan(3_010);
  expect(book.idOf(android('last', '1'))).toBe(segmentId(android(OTHER_VALUE, OTHER_VALUE)));
  expect(book.idOf(android('de', '1.7'))).toBe(segmentId(android('de', '1.7')));
});
