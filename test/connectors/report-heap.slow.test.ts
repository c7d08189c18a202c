import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { heapLimit } from '../helpers/heap-limit.ts';

const script = path.join(import.meta.dirname, 'report-heap.ts');
const MAX_HEAP_MB = 64;
const fault = (text: string) => ({
  fault: `ReportFault: The address answered what cannot be read: ${text}`,
});
const tooMany = { fault: 'ReportFault: the report has more than 50000 rows' };
const tooLarge = { fault: 'ReportFault: an answer has more than 4 MB' };

// An isolate has 128 MB for everything at once, and one large report at a time. Whatever an address or a network answers, reading it needs no more than half of
// it, and what has too much is refused before the rest is read.
it.each([
  ['AppLovin’s 50,000 rows', { rows: 50_000, megabytes: 13 }],
  ['AppLovin’s rows without end', { ...tooMany, megabytes: 13 }],
  ['Google’s 50,000 rows', { rows: 50_000, megabytes: 12 }],
  ['Google’s rows without end', { ...tooMany, megabytes: 12 }],
  ['a page of Meta’s without end', { ...tooLarge, megabytes: 4 }],
  ['a page of TikTok’s without end', { ...tooLarge, megabytes: 4 }],
  ['json of 50,000 rows', { rows: 50_000, megabytes: 15 }],
  ['json of small rows', { ...fault('more than 50000 rows'), megabytes: 4 }],
  ['json beside the rows', { rows: 0, megabytes: 20 }],
  ['one row', { ...fault('row 1 has more than 20000 characters'), megabytes: 0 }],
  ['nested lists', { ...fault('row 1 has more than 20000 characters'), megabytes: 0 }],
  ['csv of 50,000 rows', { rows: 49_999, megabytes: 7 }],
  ['csv of small rows', { ...fault('more than 50000 rows'), megabytes: 1 }],
  ['csv of wide rows', { ...fault('Line 2: has more fields than the header line'), megabytes: 1 }],
  ['csv of many cells', { ...fault('CSV with more than 1000000 cells'), megabytes: 1 }],
  ['csv of empty lines', { ...fault('more than 50000 rows'), megabytes: 0 }],
  ['csv of one line', { ...fault('CSV of more than 8 MB: JSON may have 20 MB'), megabytes: 8 }],
])(`reads %s with a heap of ${MAX_HEAP_MB} MB`, async (answer, expected) => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    ...heapLimit(MAX_HEAP_MB),
    '--disable-warning=ExperimentalWarning',
    script,
    answer,
  ]);
  expect(JSON.parse(stdout)).toEqual(expected);
});
