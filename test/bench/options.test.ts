import { describe, expect, test } from 'vitest';
import { medianFigures, PARTS, readOptions } from './options.ts';

describe('the options of the benchmark', () => {
  test('are all parts once, in full, unless something else is asked for', () => {
    expect(readOptions([])).toEqual({ parts: PARTS, rounds: 1, isQuick: false, isJson: false });
  });

  test('narrow it to parts, which run in their usual order', () => {
    const args = ['--only', 'pages', '--only', 'http', '--rounds', '3', '--quick', '--json'];
    expect(readOptions(args)).toEqual({ parts: ['http', 'pages'], rounds: 3, isQuick: true, isJson: true });
  });

  test.each([
    [
      ['--only', 'nothing'],
      '--only must be one of script, http, counting, burst, small, pages, segments, not nothing',
    ],
    [['--rounds', '0'], '--rounds must be a whole number of at least 1'],
    [['--rounds', '1.5'], '--rounds must be a whole number of at least 1'],
    [['--rounds', 'many'], '--rounds must be a whole number of at least 1'],
  ])('%j is refused', (args, message) => {
    expect(() => readOptions(args)).toThrow(message);
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
