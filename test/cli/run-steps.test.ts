import { expect, it } from 'vitest';
import { runSteps } from '../../src/cli/run-steps.ts';
import { inFolder } from '../architecture/tools.ts';

async function run(commands: string[], atOnce = 2) {
  const reports: string[] = [];
  const failures = await runSteps(commands, atOnce, (text) => reports.push(text));
  return { failures, reports: reports.map((text) => text.replace(/\d+\.\d s/, 'N s')) };
}

it('reports each command with its output, and fails none', async () => {
  const { failures, reports } = await run(['echo out && echo err >&2', 'true']);
  expect(failures).toEqual([]);
  expect(reports.sort()).toEqual(['✓ echo out && echo err >&2 (N s)\nout\nerr\n', '✓ true (N s)\n']);
});

it('runs what follows a failure, and names what failed', async () => {
  const { failures, reports } = await run(['echo no && exit 3', 'not-a-command-of-anyone', 'echo yes'], 1);
  expect(failures).toEqual(['echo no && exit 3', 'not-a-command-of-anyone']);
  expect([reports[0], reports[2]]).toEqual(['✗ echo no && exit 3 (N s)\nno\n', '✓ echo yes (N s)\nyes\n']);
});

it('fails a command that a signal ends', async () => {
  expect((await run(['kill -9 $$'])).failures).toEqual(['kill -9 $$']);
});

it('runs as many at once as it is told, and does not mix what they write', async () => {
  await inFolder(async (folder) => {
    // Each waits for the other one to start, ten seconds at most.
    const meet = (own: string, other: string) =>
      [
        `cd ${folder} && echo ${own} 1 && touch ${own}`,
        `for turn in $(seq 1000); do [ -e ${other} ] && break; sleep 0.01; done`,
        `[ -e ${other} ] && echo ${own} 2`,
      ].join('; ');
    const { failures, reports } = await run([meet('a', 'b'), meet('b', 'a')]);
    expect(failures).toEqual([]);
    expect(reports.map((text) => text.split('\n').slice(1)).sort()).toEqual([
      ['a 1', 'a 2', ''],
      ['b 1', 'b 2', ''],
    ]);
  });
});
