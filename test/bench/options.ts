import type { parseArgs } from 'node:util';
import { UsageError } from '../../src/cli/command.ts';
import { readCount } from '../helpers/options.ts';
import { median } from './workload.ts';

export type Figures = Record<string, number>;

/** `script` needs no server: bundle, start-up and heap. */
export const PARTS = [
  'script',
  'http',
  'sharing',
  'counting',
  'burst',
  'small',
  'neighbours',
  'pages',
  'segments',
  'growth',
  'deliveries',
] as const;
export type Part = (typeof PARTS)[number];

type Options = { parts: readonly Part[]; rounds: number; isQuick: boolean; isJson: boolean };

const isPart = (name: string): name is Part => (PARTS as readonly string[]).includes(name);

export const BENCH_OPTIONS = {
  json: { type: 'boolean', default: false },
  quick: { type: 'boolean', default: false },
  only: { type: 'string', multiple: true },
  rounds: { type: 'string', default: '1' },
} as const;

type Given = ReturnType<typeof parseArgs<{ options: typeof BENCH_OPTIONS }>>['values'];

export function readOptions(values: Given): Options {
  const unknown = values.only?.find((name) => !isPart(name));
  if (unknown !== undefined) {
    throw new UsageError(`--only must be one of ${PARTS.join(', ')}, not "${unknown}".`);
  }
  return {
    parts: PARTS.filter((part) => values.only?.includes(part) ?? true),
    rounds: readCount('rounds', values.rounds),
    isQuick: values.quick,
    isJson: values.json,
  };
}

/** The median of each figure over several runs, which all have the same figures. */
export function medianFigures<Run extends Figures>(runs: readonly Run[]): Run {
  const names = Object.keys(runs[0] ?? {});
  const medians = names.map((name) => [name, median(runs.map((run) => run[name] ?? Number.NaN))]);
  return Object.fromEntries(medians) as Run;
}
