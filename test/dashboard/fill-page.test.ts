import { expect, it } from 'vitest';
import { fillPage } from '../../src/dashboard/pages/operate/fill-page.ts';

/** A list of numbers whose pages hold those of a range of ten, and how often it was read. */
function listOf(...numbers: number[]) {
  const reads: [cursor: string, limit: number][] = [];
  const read = async (cursor: string, limit: number) => {
    reads.push([cursor, limit]);
    const from = Number(cursor);
    const found = numbers.filter((number) => number >= from && number < from + 10).slice(0, limit);
    const last = found.length === limit ? found.at(-1) : undefined;
    const next = last === undefined ? from + 10 : last + 1;
    return { data: found, next_cursor: next >= 100 ? null : String(next) };
  };
  return { read, reads };
}

const whole = { cursor: '', size: 3, maxReads: 20 };

it('reads past empty pages until the page is full', async () => {
  const { read, reads } = listOf(1, 35, 36, 37);
  expect(await fillPage(read, whole)).toEqual({ data: [1, 35, 36], next_cursor: '37' });
  expect(reads).toEqual([
    ['', 3],
    ['10', 2],
    ['20', 2],
    ['30', 2],
  ]);
  expect(await fillPage(read, { ...whole, cursor: '37' })).toEqual({ data: [37], next_cursor: null });
});

it('stops after as many reads as it may make, and says where to go on', async () => {
  const { read, reads } = listOf(95);
  expect(await fillPage(read, { ...whole, maxReads: 4 })).toEqual({ data: [], next_cursor: '40' });
  expect(reads).toHaveLength(4);
  expect(await fillPage(read, { ...whole, cursor: '40' })).toEqual({ data: [95], next_cursor: null });
});
