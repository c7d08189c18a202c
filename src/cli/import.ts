import { readFile, rm, stat } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import cliProgress from 'cli-progress';
import { prepareArchive } from './import-archive.ts';
import { readyFileOf } from './import-devices.ts';
import { importFile, rejectedFileOf, type Target } from './import-file.ts';
import { isParquet } from './import-parquet.ts';
import { prepareExport, type Team } from './import-vendor.ts';
import { exists, localState } from './local-state.ts';
import type { Demo } from './seed-demo.ts';
import { isVendor, VENDORS } from './vendors.ts';

const USAGE = `Usage: npm run import -- <file> [--from <service>] [--archive] [--url https://ingest.example.com]

Sends a file of webhook events, one JSON object per line, through /webhook/batch. Run it again to continue an interrupted import.
--from ${Object.keys(VENDORS).join('|')} reads the CSV of another service's raw data export (see docs/migrating.md). Import the installs
first, then the events.
--archive reads a raw event file (Parquet, see docs/raw-events.md). Devices keep their archived ids. Use it only for a deployment that
has not counted these events, because it would count them again.
Without --url, events go to the local service, with the credentials in its demo.json. With --url, set API_KEY and, if the deployment
has its own, SERVICE_NAME (default "service"), which is part of the header's name. With --from, also set TEAM_TOKEN, so that devices
keep their campaigns.`;

async function targetOf(url: string | undefined): Promise<{ target: Target; team: Team }> {
  const { API_KEY: apiKey, TEAM_TOKEN: teamToken, SERVICE_NAME: serviceName = 'service' } = process.env;
  if (apiKey && url) {
    return {
      target: { url: url.replace(/\/$/, ''), apiKey, headerName: `${serviceName}-api-key` },
      team: teamToken ? { headerName: `${serviceName}-Token`, token: teamToken } : null,
    };
  }
  if (url) throw new Error('Set API_KEY to the API key of the application.');
  const { demoFile } = localState();
  if (!(await exists(demoFile)))
    throw new Error('There is no local service yet. Run npm start first, or pass --url.');
  const demo: Demo = JSON.parse(await readFile(demoFile, 'utf8'));
  return {
    target: {
      url: demo.base_url,
      apiKey: apiKey ?? demo.api_key,
      headerName: `${demo.service_name}-api-key`,
    },
    team: { headerName: `${demo.service_name}-Token`, token: teamToken ?? demo.team_token },
  };
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    options: {
      url: { type: 'string' },
      from: { type: 'string' },
      archive: { type: 'boolean', default: false },
    },
    allowPositionals: true,
  });
  const [named, ...rest] = positionals;
  const { from } = values;
  if (!named || rest.length > 0 || (from !== undefined && (!isVendor(from) || values.archive))) {
    console.error(USAGE);
    return 2;
  }
  const { target, team } = await targetOf(values.url);
  if ((await isParquet(named)) !== values.archive) {
    console.error(
      values.archive
        ? `${named} is not a raw event file.`
        : `${named} is a raw event file. Pass --archive to import it.\n\n${USAGE}`,
    );
    return 2;
  }
  const file = values.archive
    ? await prepareArchive(named, target)
    : from !== undefined
      ? await prepareExport(named, from, target, team)
      : named;
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
    if (file !== named) await rm(readyFileOf(named), { force: true });
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
