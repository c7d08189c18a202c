import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { runCommand } from '../command.ts';
import { networksPage } from './networks-page.ts';

await runCommand(
  {
    usage: 'Usage: npm run docs:networks\n\nWrites docs/networks.md from what is known of each network.',
    options: {},
  },
  () => writeFile(path.join(import.meta.dirname, '../../../docs/networks.md'), networksPage()),
);
