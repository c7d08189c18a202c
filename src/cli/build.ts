import { copyFile, mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { bundleWorker } from './bundle.ts';

// What wrangler serves and deploys: the Worker's modules in `dist`, and the files of the documentation page among the static
// ones. Wrangler runs this first and after every change. A file that is there already is not touched, or the watcher would
// never come to rest.

const ROOT = path.resolve(import.meta.dirname, '../..');
const SWAGGER_UI = path.join(ROOT, 'node_modules/swagger-ui-dist');
const DOCS_ASSETS = path.join(ROOT, 'src/dashboard/static/swagger-ui');

async function copyDocsAssets(): Promise<void> {
  await mkdir(DOCS_ASSETS, { recursive: true });
  for (const name of ['swagger-ui.css', 'swagger-ui-bundle.js', 'LICENSE', 'NOTICE']) {
    const [source, target] = [path.join(SWAGGER_UI, name), path.join(DOCS_ASSETS, name)];
    const [wanted, present] = [await readFile(source), await readFile(target).catch(() => null)];
    if (!present?.equals(wanted)) await copyFile(source, target);
  }
}

await Promise.all([copyDocsAssets(), bundleWorker(path.join(ROOT, 'src/index.ts'), path.join(ROOT, 'dist'))]);
