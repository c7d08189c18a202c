import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { bundleScript, bundleWorker, putFile } from './bundle.ts';
import { runCommand } from './command.ts';
import { ROOT } from './local-state.ts';
import { isUpload, prepareDeployment } from './wrangler/prepare-deployment.ts';
import { prepareForDev } from './wrangler/prepare-state.ts';
import { findWranglerCall } from './wrangler/wrangler-call.ts';

const USAGE = `Usage: npm run build

Builds what wrangler serves and deploys: the Worker's modules in \`dist\`, and the font and the reader of cost files among the static files. Wrangler runs it first and
after every change. For \`wrangler dev\`, it also makes the local secrets and tables; for \`wrangler deploy\`, it applies the org's migrations.`;

const DIST = path.join(ROOT, 'dist');
const INTER = path.join(ROOT, 'node_modules/@fontsource-variable/inter');
const BUILT = path.join(ROOT, 'src/dashboard/static/built');
const FONTS = path.join(ROOT, 'src/dashboard/static/fonts');

await runCommand({ usage: USAGE, options: {} }, async () => {
  // Set by tests that start the same build many times.
  if (process.env.IS_BUILT) return;
  const call = await findWranglerCall();
  if (call.command === 'dev') await prepareForDev(call);
  await bundleWorker(path.join(ROOT, 'src/index.ts'), DIST);
  const reader = path.join(ROOT, 'src/dashboard/pages/costs/cost-reader.ts');
  await bundleScript(reader, path.join(BUILT, 'cost-reader.js'), DIST);
  // Browsers keep the font for ever, so its name changes with its version. The stylesheet names the same file.
  const { version } = JSON.parse(await readFile(path.join(INTER, 'package.json'), 'utf8'));
  await mkdir(FONTS, { recursive: true });
  const latin = await readFile(path.join(INTER, 'files/inter-latin-wght-normal.woff2'));
  await putFile(path.join(FONTS, `inter-latin-${version}.woff2`), latin, DIST);
  await putFile(path.join(FONTS, 'LICENSE'), await readFile(path.join(INTER, 'LICENSE')), DIST);
  // Last, so that nothing is changed at Cloudflare if the build fails.
  if (isUpload(call)) await prepareDeployment(call);
});
