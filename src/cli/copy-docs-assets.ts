import { copyFile, mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';

// Puts the files of the documentation page where static files are served from. Wrangler runs it before it bundles, watches or
// deploys. A file that is there already is not touched, or the watcher would never come to rest.

const ROOT = path.resolve(import.meta.dirname, '../..');
const SOURCE = path.join(ROOT, 'node_modules/swagger-ui-dist');
const TARGET = path.join(ROOT, 'src/dashboard/static/swagger-ui');
const FILES = ['swagger-ui.css', 'swagger-ui-bundle.js', 'LICENSE', 'NOTICE'];

await mkdir(TARGET, { recursive: true });
for (const name of FILES) {
  const [source, target] = [path.join(SOURCE, name), path.join(TARGET, name)];
  const [wanted, present] = [await readFile(source), await readFile(target).catch(() => null)];
  if (!present?.equals(wanted)) await copyFile(source, target);
}
