import { globSync } from 'node:fs';
import { ImportGraph } from './import-graph.ts';

// Where a test runs follows from what it imports and from its name, so that nobody keeps a list of files.

/** Chaos, fuzz, whole services: more than a second or two each. `npm run test:slow` runs them, and so does CI. */
const SLOW = /\.slow\.test\.ts$/;

/** The modules of Node that workerd does not have as well, or only in part: files, processes, servers. */
const OF_NODE = /^node:(?:child_process|fs|http|net|os|readline|sqlite|worker_threads)\b/;

/**
 * - `worker`: needs workerd, since it reaches one of its modules.
 * - `node`: needs Node's files, processes or servers, and gets a process of its own.
 * - `pure`: needs neither, and shares a thread of Node with the others.
 */
export type Runtime = 'worker' | 'node' | 'pure';

export function runtimeOf(reached: ReadonlySet<string>): Runtime {
  const names = [...reached];
  if (names.some((name) => name.startsWith('cloudflare:'))) return 'worker';
  return names.some((name) => OF_NODE.test(name)) ? 'node' : 'pure';
}

export type TestFile = {
  file: string;
  runtime: Runtime;
  isSlow: boolean;
  /** Has properties, which the fast tier checks with few cases, or tests of seconds: the slow tier runs it again with all of them. */
  hasMore: boolean;
};

export function readTestFiles(root: string): TestFile[] {
  const graph = new ImportGraph(root);
  return globSync('test/**/*.test.ts', { cwd: root })
    .sort()
    .map((file) => {
      const reached = graph.reachedFrom(file);
      return {
        file,
        runtime: runtimeOf(reached),
        isSlow: SLOW.test(file),
        hasMore: reached.has('fast-check') || reached.has('test/helpers/thorough.ts'),
      };
    });
}
