import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { runCommand } from '../command.ts';
import { withCostFormats } from './cost-formats.ts';
import { networkPages } from './networks-page.ts';

const DOCS = path.join(import.meta.dirname, '../../../docs');

await runCommand(
  {
    usage:
      'Usage: npm run docs:networks\n\nWrites docs/networks.md and a page per network in docs/networks from what is known of each, and what docs/costs.md says of their exports.',
    options: {},
  },
  async () => {
    // Also removes the page of a network that is no longer listed.
    await rm(path.join(DOCS, 'networks'), { recursive: true, force: true });
    await mkdir(path.join(DOCS, 'networks'));
    for (const [file, text] of Object.entries(networkPages())) await writeFile(path.join(DOCS, file), text);
    const costs = path.join(DOCS, 'costs.md');
    await writeFile(costs, withCostFormats(await readFile(costs, 'utf8')));
  },
);
