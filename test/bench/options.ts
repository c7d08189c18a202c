import { parseArgs } from 'node:util';
import { median } from './workload.ts';

export type Figures = Record<string, number>;

/** `script` needs no server: bundle, start-up and heap. */
export const PARTS = ['script', 'http', 'counting', 'burst', 'small', 'pages', 'segments'] as const;
export type Part = (typeof PARTS)[number];

type Options = { parts: readonly Part[]; rounds: number; isQuick: boolean; isJson: boolean };

const isPart = (name: string): name is Part => (PARTS as readonly string[]).includes(name);

/** A whole number of at least 1 given as an option; throws an error that names the option otherwise. */
export function readCount(option: string, text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1)
    throw new Error(`--${option} must be a whole number of at least 1`);
  return count;
}

export function readOptions(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      json: { type: 'boolean', default: false },
      quick: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true },
      rounds: { type: 'string', default: '1' },
    },
  });
  const unknown = values.only?.find((name) => !isPart(name));
  if (unknown !== undefined) throw new Error(`--only must be one of ${PARTS.join(', ')}, not ${unknown}`);
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
