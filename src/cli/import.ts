import { readFile, stat } from 'node:fs/promises';
import cliProgress from 'cli-progress';
import { isTimezone } from '#lib/time';
import { CommandError, runCommand, UsageError } from './command.ts';
import { readArchive } from './import/archive.ts';
import type { ImportedRow } from './import/devices.ts';
import { type ImportProgress, importFile, rejectedFileOf, type Target } from './import/file.ts';
import { isParquet } from './import/parquet.ts';
import { importRows } from './import/rows.ts';
import type { Scratch } from './import/scratch.ts';
import { type ColumnMap, parseColumnMap } from './import/sources/mapped.ts';
import { reasonsText, summaryText, totalOf } from './import/summary.ts';
import { readExport, type Team } from './import/vendor.ts';
import { isVendor, VENDORS } from './import/vendors.ts';
import { serviceAt } from './local-state.ts';

const USAGE = `Usage: npm run import -- <file> [--url https://ingest.example.com]
       npm run import -- <file.csv[.gz]> --from <service> [--timezone <zone>] [--organic] [--url …]
       npm run import -- <file.csv[.gz]> --map <columns.json> [--timezone <zone>] [--organic] [--url …]
       npm run import -- <file.parquet> --archive [--url …]

Sends a file of webhook events, one JSON object per line, through /webhook/batch. Run it again to continue an interrupted import.
--from ${Object.keys(VENDORS).join('|')} reads the CSV of another service's raw data export, also with gzip (see docs/migrating.md). Import
the installs first, then the events. --map reads any other CSV by a list of its columns. --timezone is the IANA time zone of the export's times; the default is UTC.
--archive reads a raw event file (Parquet, see docs/data.md). Devices keep their archived ids. Use it only for a deployment that
has not counted these events, because it would count them again.
Without --url, events go to the local service, with the credentials in its demo.json. With --url, set API_KEY and, if the deployment
has its own, SERVICE_NAME (default "service"), which is part of the header's name. With --from or --map, also set TEAM_TOKEN, so that devices
keep their networks and campaigns, or pass --organic to import all of them as organic.`;

async function targetOf(url: string | undefined): Promise<{ target: Target; team: Team }> {
  const { url: base, name, apiKey, teamToken } = await serviceAt(url);
  if (!apiKey) throw new CommandError('Set API_KEY to the API key of the application.');
  return {
    target: { url: base, apiKey, headerName: `${name}-api-key` },
    team: teamToken ? { headerName: `${name}-Token`, token: teamToken } : null,
  };
}

type Options = {
  url?: string | undefined;
  from?: string | undefined;
  map?: string | undefined;
  timezone?: string | undefined;
  organic: boolean;
  archive: boolean;
};

/** Throws a `UsageError` if the options contradict each other or the file. */
async function check(file: string, { from, map, timezone, organic, archive }: Options): Promise<void> {
  const fault =
    from !== undefined && !isVendor(from)
      ? `--from must be ${Object.keys(VENDORS).join(' or ')}, not "${from}". --map reads others.`
      : [from !== undefined, map !== undefined, archive].filter(Boolean).length > 1
        ? 'Pass one of --from, --map and --archive.'
        : from === undefined && map === undefined && (timezone !== undefined || organic)
          ? '--timezone and --organic need --from or --map.'
          : timezone !== undefined && !isTimezone(timezone)
            ? `--timezone must be an IANA time zone such as Europe/Berlin, not "${timezone}".`
            : null;
  if (fault) throw new UsageError(fault);
  const parquet = await isParquet(file).catch((error) => {
    throw new CommandError(`${file} cannot be read: ${error.message}`);
  });
  if (parquet === archive) return;
  throw new UsageError(
    archive
      ? `${file} is not a raw event file.`
      : `${file} is a raw event file: pass --archive to import it.`,
  );
}

/** A bar that shows what was sent of a file. */
function progressBar() {
  const bar = new cliProgress.SingleBar({
    format: '{bar} {percentage}% | {accepted} accepted, {rejected} rejected | {eta_formatted} left',
    hideCursor: true,
  });
  let isShown = false;
  return {
    show: (size: number, { bytes, accepted, rejected }: ImportProgress) => {
      if (!isShown) bar.start(size, 0, { accepted, rejected });
      isShown = true;
      bar.update(Math.min(bytes, size), { accepted, rejected });
    },
    stop: () => bar.stop(),
  };
}

async function importPlain(file: string, target: Target): Promise<number> {
  const { size } = await stat(file);
  const bar = progressBar();
  const done = await importFile(file, target, (progress) => bar.show(size, progress)).finally(bar.stop);
  console.log(
    [
      `${done.accepted} events accepted, ${done.rejected} rejected.`,
      reasonsText({ reasons: {}, dropped: done.dropped ?? {} }),
    ]
      .filter(Boolean)
      .join('\n'),
  );
  return sayRejected(file, done.rejected);
}

async function importAsRows(
  source: { file: string; settings?: Record<string, unknown> },
  read: (scratch: Scratch) => AsyncIterable<ImportedRow>,
  target: Target,
): Promise<number> {
  const bar = progressBar();
  const { summary, ...why } = await importRows(source, read, target, (progress, size) =>
    bar.show(size, progress),
  ).finally(bar.stop);
  console.log([summaryText(summary), reasonsText(why)].filter(Boolean).join('\n'));
  return sayRejected(source.file, totalOf(summary).rejected);
}

async function readMap(file: string): Promise<ColumnMap> {
  const text = await readFile(file, 'utf8').catch((error) => {
    throw new CommandError(`${file} cannot be read: ${error.message}`);
  });
  return parseColumnMap(text);
}

function sayRejected(file: string, rejected: number): number {
  if (rejected > 0) console.log(`The rejected lines and the reasons are in ${rejectedFileOf(file)}`);
  return rejected > 0 ? 1 : 0;
}

await runCommand(
  {
    usage: USAGE,
    options: {
      url: { type: 'string' },
      from: { type: 'string' },
      map: { type: 'string' },
      timezone: { type: 'string' },
      organic: { type: 'boolean', default: false },
      archive: { type: 'boolean', default: false },
    },
    positionals: ['file'],
    showsErrors: true,
  },
  async ({ values, positionals: [file] }) => {
    if (!file) throw new UsageError('Pass the file to import.');
    await check(file, values);
    const { target, team } = await targetOf(values.url);
    const { from, map, timezone = 'UTC', organic } = values;
    if (values.archive) return importAsRows({ file }, () => readArchive(file), target);
    const vendor =
      map !== undefined ? await readMap(map) : from !== undefined && isVendor(from) ? from : undefined;
    if (vendor === undefined) return importPlain(file, target);
    if (!team && !organic) {
      throw new UsageError('Set TEAM_TOKEN, so that devices keep their campaigns, or pass --organic.');
    }
    const settings = { vendor, timezone, organic };
    const exported = { file, vendor, timezone };
    return importAsRows(
      { file, settings },
      (scratch) => readExport(exported, target, organic ? null : team, scratch),
      target,
    );
  },
);
