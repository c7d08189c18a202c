import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { bundleWorker, putFile } from './bundle.ts';
import { runCommand } from './command.ts';
import { ROOT } from './local-state.ts';

const USAGE = `Usage: npm run build

Builds what wrangler serves and deploys: the Worker's modules in \`dist\`, and the documentation page's files among the static ones. Wrangler
runs it first and after every change.`;

const DIST = path.join(ROOT, 'dist');
const SWAGGER_UI = path.join(ROOT, 'node_modules/swagger-ui-dist');
const DOCS_ASSETS = path.join(ROOT, 'src/dashboard/static/swagger-ui');

await runCommand({ usage: USAGE, options: {} }, async () => {
  await bundleWorker(path.join(ROOT, 'src/index.ts'), DIST);
  await mkdir(DOCS_ASSETS, { recursive: true });
  for (const name of ['swagger-ui.css', 'swagger-ui-bundle.js', 'LICENSE', 'NOTICE']) {
    await putFile(path.join(DOCS_ASSETS, name), await readFile(path.join(SWAGGER_UI, name)), DIST);
  }
});
