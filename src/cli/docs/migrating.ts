import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { runCommand } from '../command.ts';
import { migratingPage } from './migrating-page.ts';

const PAGE = path.join(import.meta.dirname, '../../../docs/migrating.md');

await runCommand(
  {
    usage:
      'Usage: npm run docs:migrating\n\nWrites the tables of columns in docs/migrating.md from the readers of exports.',
    options: {},
  },
  async () => writeFile(PAGE, migratingPage(await readFile(PAGE, 'utf8'))),
);
