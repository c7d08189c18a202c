import { expect, test } from 'vitest';
import { parseStat, runSeconds } from './processes.ts';

const REST = '4194560 100 2000 0 3 1234 66 700 8 20 0 9 0 5000 1 1';

test('reads CPU time in seconds, with that of ended children apart', () => {
  expect(parseStat(`42 (workerd) S 7 42 42 0 -1 ${REST}`)).toEqual({
    command: 'workerd',
    parent: 7,
    cpuSeconds: 13,
    reapedCpuSeconds: 7.08,
  });
});

test('is not misled by a command with spaces and parentheses', () => {
  expect(parseStat(`42 (postgres: (a) b) R 9 42 42 0 -1 ${REST}`)).toMatchObject({
    command: 'postgres: (a) b',
    parent: 9,
    cpuSeconds: 13,
  });
});

test('reads the CPU time of a thread in seconds', () => {
  expect(runSeconds('30123456789 66700 812\n')).toBe(30.123456789);
});
