import { runCommand } from '../../src/cli/command.ts';
import { readCount } from '../helpers/options.ts';
import { runChaos } from './chaos.ts';

const USAGE = `Usage: npm run chaos -- [--seed <number>] [--seconds <number>]

Sends real traffic while database, bucket and queue fail and counters and the server are killed, then checks every event. The same seed makes the
same faults.`;

await runCommand(
  {
    usage: USAGE,
    options: { seed: { type: 'string', default: '1' }, seconds: { type: 'string', default: '60' } },
  },
  async ({ values }) => {
    const verdict = await runChaos(readCount('seed', values.seed), readCount('seconds', values.seconds));
    const { violations, ...figures } = verdict;
    console.log(JSON.stringify(figures, null, 2));
    for (const violation of violations) console.error(violation);
    console.log(violations.length === 0 ? 'Everything was counted once.' : `${violations.length} violations`);
    return violations.length === 0 ? 0 : 1;
  },
);
