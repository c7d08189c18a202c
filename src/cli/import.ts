import { readFile, rm, stat } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import cliProgress from 'cli-progress';
import { prepareArchive, readyFileOf } from './import-archive.ts';
import { importFile, rejectedFileOf, type Target } from './import-file.ts';
import { isParquet } from './import-parquet.ts';
import { exists, localState } from './local-state.ts';
import type { Demo } from './seed-demo.ts';

const USAGE = `Usage: npm run import -- events.ndjson [--url https://ingest.example.com] [--archive]

Sends a file of webhook events, one JSON object a line, through /webhook/batch. Run it again to go on after a stop.
A file of raw events (Parquet, see docs/raw-events.md) is taken with --archive, and only by a deployment that has not counted its
events: where they were counted, they would be counted again. Its devices are made under their archived ids.
Without --url it goes to the local service and takes the key and the header's name from its demo.json. With --url set API_KEY
and, where the deployment has its own, SERVICE_NAME (default "service"), which names the header.`;

async function targetOf(url: string | undefined): Promise<Target> {
  const { API_KEY: apiKey, SERVICE_NAME: serviceName = 'service' } = process.env;
  if (apiKey && url) return { url: url.replace(/\/$/, ''), apiKey, headerName: `${serviceName}-api-key` };
  if (url) throw new Error('Set API_KEY to the API key of the application.');
  const { demoFile } = localState();
  if (!(await exists(demoFile)))
    throw new Error('There is no local service yet: run npm start, or name one by --url.');
  const demo: Demo = JSON.parse(await readFile(demoFile, 'utf8'));
  return {
    url: demo.base_url,
    apiKey: apiKey ?? demo.api_key,
    headerName: `${demo.service_name}-api-key`,
  };
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    options: { url: { type: 'string' }, archive: { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  const [named, ...rest] = positionals;
  if (!named || rest.length > 0) {
    console.error(USAGE);
    return 2;
  }
  const target = await targetOf(values.url);
  if ((await isParquet(named)) !== values.archive) {
    console.error(
      values.archive
        ? `${named} is not a file of raw events.`
        : `${named} is a file of raw events.\n\n${USAGE}`,
    );
    return 2;
  }
  const file = values.archive ? await prepareArchive(named, target) : named;
  const { size } = await stat(file);
  const bar = new cliProgress.SingleBar({
    format: '{bar} {percentage}% | {accepted} accepted, {rejected} rejected | {eta_formatted} left',
    hideCursor: true,
  });
  bar.start(size, 0, { accepted: 0, rejected: 0 });
  try {
    const done = await importFile(file, target, ({ bytes, accepted, rejected }) =>
      bar.update(Math.min(bytes, size), { accepted, rejected }),
    );
    bar.update(size);
    bar.stop();
    if (values.archive) await rm(readyFileOf(named), { force: true });
    console.log(`${done.accepted} events accepted, ${done.rejected} rejected.`);
    if (done.rejected > 0) console.log(`The rejected lines and the reasons are in ${rejectedFileOf(file)}`);
    return done.rejected > 0 ? 1 : 0;
  } catch (error) {
    bar.stop();
    throw error;
  }
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
