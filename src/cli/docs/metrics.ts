import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { runCommand } from '../command.ts';
import { metricsPage } from './metrics-page.ts';

await runCommand(
  {
    usage: 'Usage: npm run docs:metrics\n\nWrites docs/metrics.md from the definitions of the metrics.',
    options: {},
  },
  () => writeFile(path.join(import.meta.dirname, '../../../docs/metrics.md'), metricsPage()),
);
