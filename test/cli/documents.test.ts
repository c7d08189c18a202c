import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../../src/cli/local-state.ts';

// The README and docs: every link has a target, and every script that they name exists.

const files = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'CHANGELOG.md',
  ...(await readdir(path.join(ROOT, 'docs'), { recursive: true }))
    .filter((file) => file.endsWith('.md'))
    .map((file) => path.join('docs', file)),
];
const read = (file: string) => readFile(path.join(ROOT, file), 'utf8');

/** As GitHub makes the anchor of a heading. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[`*]/g, '')
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

it.each(files)('%s has no broken link', async (file) => {
  const text = await read(file);
  const links = [...text.matchAll(/\]\(([^)\s]+)\)|(?:src|srcset)="([^"]+)"/g)].map(
    ([, link, source]) => link ?? source ?? '',
  );
  for (const link of links.filter((target) => !/^https?:/.test(target))) {
    const [target = '', anchor] = link.split('#');
    const linked = target === '' ? file : path.join(path.dirname(file), target);
    expect(await stat(path.join(ROOT, linked)).catch(() => null), `${file} → ${link}`).not.toBeNull();
    if (anchor === undefined) continue;
    const headings = [...(await read(linked)).matchAll(/^#+ (.+)$/gm)].map(([, text = '']) => anchorOf(text));
    expect(headings, `${file} → ${link}`).toContain(anchor);
  }
});

it('names only scripts that exist, and explains each of them', async () => {
  const { scripts }: { scripts: Record<string, string> } = JSON.parse(await read('package.json'));
  const texts = await Promise.all(files.map(read));
  const named = texts.flatMap((text) =>
    [...text.matchAll(/npm run ([\w:-]+)/g)].map(([, name = '']) => name),
  );
  expect(named.filter((name) => !(name in scripts))).toEqual([]);
  const commands = await read('docs/commands.md');
  const missing = Object.keys(scripts).filter(
    (name) => !commands.includes(`npm run ${name}`) && !commands.includes(`npm ${name}`),
  );
  expect(missing).toEqual([]);
});

it('says why each package is there', async () => {
  const { dependencies, devDependencies } = JSON.parse(await read('package.json'));
  const table = await read('docs/dependencies.md');
  const cells = [...table.matchAll(/^\| ([^|]+) \|/gm)].flatMap(([, cell = '']) => cell.split(', '));
  expect(
    cells
      .slice(1)
      .filter((cell) => !cell.startsWith('-'))
      .sort(),
  ).toEqual(Object.keys({ ...dependencies, ...devDependencies }).sort());
});

it('lists every decision in the index', async () => {
  const decisions = (await readdir(path.join(ROOT, 'docs/adr'))).filter((file) => /^\d{4}-/.test(file));
  const index = await read('docs/adr/README.md');
  for (const decision of decisions) expect(index).toContain(`(${decision})`);
});

/** What runs each block of commands, queries or settings of the documents, by its first line. */
const RUN_BY: Record<string, string> = {
  'npm ci': '.ci/run, which installs; test/cli/start.slow.test.ts, which starts',
  'fact() { node -p "require(\'./.wrangler/state/demo.json\').$1"; }': 'test/cli/service-name.slow.test.ts',
  'TOKEN=$(curl -s $URL/fetch-token': 'test/cli/service-name.slow.test.ts',
  'event() { curl -s $URL/webhook': 'test/cli/service-name.slow.test.ts',
  'sleep 3': 'test/cli/service-name.slow.test.ts',
  'curl -s -X PATCH $URL/v1/applications': 'test/cli/service-name.slow.test.ts',
  'curl -s $URL/v1/creatives': 'test/cli/service-name.slow.test.ts',
  // The account is a pretended one: creating an org needs a token of Cloudflare's.
  'export CLOUDFLARE_API_TOKEN=…': 'test/cli/org.slow.test.ts',
  'npm run org -- secrets acme': 'test/cli/org-secrets.slow.test.ts',
  'npm run org -- rotate acme': 'test/cli/org-secrets.slow.test.ts',
  'npm run check': '.ci/run',
  'npm run import -- events.csv --map': 'test/foreign/imports/imports.test.ts',
  'npm run restore':
    'test/cli/restore.slow.test.ts, from a folder; test/backup/every-report.slow.test.ts, from the bucket',
  'STATE_DIR=.wrangler/restored npm start': 'test/cli/restore.slow.test.ts',
  // The second block is run, with a local database; the first needs an account.
  'npx wrangler d1 export': 'test/cli/export.slow.test.ts',
  'SELECT ': 'test/lake/duckdb.slow.test.ts',
  'SET VARIABLE first_day': 'test/lake/duckdb.slow.test.ts',
  'WITH sent AS (': 'test/lake/duckdb.slow.test.ts',
  'SET VARIABLE today': 'test/lake/duckdb.slow.test.ts',
  'CREATE VIEW events': 'test/lake/duckdb.slow.test.ts',
  'CREATE MACRO uuid_of': 'test/lake/duckdb.slow.test.ts',
  'CREATE MACRO amount_of': 'test/lake/duckdb.slow.test.ts',
  '// send-events.mjs': 'test/cli/clients.slow.test.ts',
  '# send_events.py': 'test/cli/clients.slow.test.ts',
  '// send_events.go': 'test/cli/clients.slow.test.ts, where Go is installed',
  '// SendEvents.java': 'test/cli/clients.slow.test.ts, where Java is installed',
  '<?php // send_events.php': 'test/cli/clients.slow.test.ts, where PHP is installed',
  '# send_events.sh': 'test/cli/clients.slow.test.ts',
  "import { Webhook } from 'standardwebhooks';": 'test/destinations/standard-webhooks.test.ts',
  'curl https://acme.example.com/mcp': 'test/docs/openapi.test.ts, the example of the operation',
  '{': 'test/skan/report.test.ts, the schema of conversion values',
};
/** What nothing here can run, with the reason. */
const NOT_RUN: Record<string, string> = {
  'INSTALL httpfs;': 'needs the keys of a bucket in R2',
  '[[send_email]]': 'needs a domain that is onboarded for mail',
  '<key>NSAdvertisingAttributionReportEndpoint</key>': "is part of an app, and read by Apple's devices",
  'flowchart LR': 'a drawing',
  '// Program.cs': 'needs .NET',
  'METRICS_TOKEN=$(openssl rand': 'sets a secret of a deployment',
  'git checkout v0.2.0': 'deploys to an account',
  'npm start  ': 'needs a data set that is not part of the project',
};

it('has a test, or a reason against one, for every code block of the documents', async () => {
  const texts = await Promise.all(files.map(read));
  const blocks = texts.flatMap((text) =>
    [...text.matchAll(/^ *```[a-z].*\n *(.*)/gm)].map(([, first = '']) => first),
  );
  const known = Object.keys({ ...RUN_BY, ...NOT_RUN });
  expect(blocks.filter((first) => !known.some((start) => first.startsWith(start)))).toEqual([]);
  expect(known.filter((start) => !blocks.some((first) => first.startsWith(start)))).toEqual([]);
  for (const runner of Object.values(RUN_BY)) {
    for (const [file] of runner.matchAll(/[.\w/-]+\/(?:run|[\w-]+(?:\.slow)?\.test\.ts)/g)) {
      expect(await stat(path.join(ROOT, file)).catch(() => null), file).not.toBeNull();
    }
  }
});
