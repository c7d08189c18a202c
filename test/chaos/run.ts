import { parseArgs } from 'node:util';
import { runChaos } from './chaos.ts';

// `npm run chaos -- --seed S --seconds N`

const { values } = parseArgs({
  options: { seed: { type: 'string', default: '1' }, seconds: { type: 'string', default: '60' } },
});
const verdict = await runChaos(Number(values.seed), Number(values.seconds));
const { violations, ...figures } = verdict;
console.log(JSON.stringify(figures, null, 2));
for (const violation of violations) console.error(violation);
console.log(violations.length === 0 ? 'Everything was counted once.' : `${violations.length} violations`);
process.exitCode = violations.length === 0 ? 0 : 1;
