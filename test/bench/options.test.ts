import { parseArgs } from 'node:util';
import { describe, expect, test } from 'vitest';
import { BENCH_OPTIONS, medianFigures, PARTS, readOptions } from './options.ts';

const read = (args: string[]) => readOptions(parseArgs({ args, options: BENCH_OPTIONS }).values);

describe('the options of the benchmark', () => {
  test('are all parts once, in full, unless something else is asked for', () => {
    expect(read([])).toEqual({ parts: PARTS, rounds: 1, isQuick: false, isJson: false });
  });

  test('narrow it to parts, which run in their usual order', () => {
    const args = ['--only', 'pages', '--only', 'http', '--rounds', '3', '--quick', '--json'];
    expect(read(args)).toEqual({ parts: ['http', 'pages'], rounds: 3, isQuick: true, isJson: true });
  });

  test.each([
    [
      ['--only', 'nothing'],
      '--only must be one of script, http, sharing, counting, burst, small, neighbours, pages, segments, growth, deliveries, not "nothing".',
    ],
    [['--rounds', '0'], '--rounds must be a whole number of at least 1'],
    [['--rounds', '1.5'], '--rounds must be a whole number of at least 1'],
    [['--rounds', 'many'], '--rounds must be a whole number of at least 1'],
  ])('%j is refused', (args, message) => {
    expect(() => read(args)).toThrow(message);
  });
});

test('takes the median of each figure by itself', () => {
  const runs = [
    { fast: 1, slow: 30 },
    { fast: 3, slow: 10 },
    { fast: 2, slow: 20 },
  ];
  expect(medianFigures(runs)).toEqual({ fast: 2, slow: 20 });
});
