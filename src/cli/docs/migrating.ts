import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { runCommand } from '../command.ts';
import { migratingPage } from './migrating-page.ts';

const PAGE = path.join(import.meta.dirname, '../../../docs/migrating.md');

await runCommand(
  {
    usage:
      'Usage: npm run docs:migrating\n\nWrites the tables of columns and the examples of maps in docs/migrating.md.',
    options: {},
  },
  async () => writeFile(PAGE, migratingPage(await readFile(PAGE, 'utf8'))),
);
