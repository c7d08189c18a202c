import { readFile } from 'node:fs/promises';
import cliProgress from 'cli-progress';
import {
  type CostMap,
  type CostService,
  type DaysAndRows,
  faultsInMessage,
  parseCostMap,
  readLargeFile,
  SMALL_BYTES,
  uploadByDay,
} from '#money/large-files';
import { askService, type ServiceAnswer } from './ask-service.ts';
import { CommandError, checkUrl, runCommand, UsageError } from './command.ts';
import { serviceAt } from './local-state.ts';

const USAGE = `Usage: npm run costs -- <file> [--currency usd] [--spread] [--map date=Päivä …] [--url https://ingest.example.com --application app_…]

Uploads ad spend: an export of an advertising network by day, as CSV or Excel (.xlsx), or a CSV with the columns date, campaign, adset,
creative, currency, amount, impressions, clicks. It is stored whole or not at all; uploading it again changes nothing. More than
50,000 rows or 8 MiB are checked as a whole and then stored by days, the first day first; run it again if it was interrupted. --currency is for files
that name none; the default is the application's. --spread spreads rows that cover several days evenly over them. --map says which column is
which if the headings are not known, once per field: --map date=Päivä --map campaign=Kampanja --map amount=Summa.
Without --url, costs go to the demo application of the local service. With --url, set TEAM_TOKEN and, if the deployment has its own,
SERVICE_NAME.`;

type CostsTarget = { url: string; headerName: string; teamToken: string; application: string };

async function placeOf(url: string | undefined, application: string | undefined): Promise<CostsTarget> {
  checkUrl(url);
  const { application: own, name, teamToken, ...service } = await serviceAt(url);
  const chosen = application ?? own;
  if (!chosen) throw new UsageError('--url needs --application.');
  if (!teamToken) throw new UsageError('Set TEAM_TOKEN to a team token.');
  return { url: service.url, headerName: `${name}-Token`, teamToken, application: chosen };
}

type UploadAnswer = {
  rows: number;
  unmatched: number;
  skipped?: { line: number; reason: string }[];
  ignored_columns?: string[];
  amounts?: readonly { currency: string; amount: number | string; amount_exact?: string }[];
};

type UploadOptions = { currency: string | undefined; spread: boolean; map: CostMap | null };

const callerOf = ({ url, headerName, teamToken }: CostsTarget) => {
  const ask = async (
    method: string,
    path: string,
    body: string | Uint8Array<ArrayBuffer> | null,
    type: string,
  ) => {
    const answer = await askService(
      url + path,
      { method, headers: { [headerName]: teamToken, 'Content-Type': type }, body },
      { attempts: 4, waitMs: (attempt) => 500 * 2 ** attempt },
    );
    if (answer.status === 0) throw new CommandError(`${url} cannot be reached: ${answer.text}`);
    return answer;
  };
  const json = (path: string, body: unknown) => ask('PUT', path, JSON.stringify(body), 'application/json');
  return { ask, json };
};

/** Sends a file as it is. */
async function uploadWhole(
  file: Uint8Array<ArrayBuffer>,
  target: CostsTarget,
  { currency, spread, map }: UploadOptions,
): Promise<UploadAnswer> {
  const query = new URLSearchParams([
    ['application_id', target.application],
    ...(currency ? [['currency', currency]] : []),
    ['spread', String(spread)],
    ...Object.entries(map ?? {}).map(([field, heading]) => ['map', `${field}=${heading}`]),
  ]);
  const answer = await callerOf(target).ask('PUT', `/v1/costs/file?${query}`, file, 'text/csv');
  if (answer.ok) return JSON.parse(answer.text);
  const said = messageIn(answer.text).replaceAll('; Line ', '\nLine ');
  throw new CommandError(`Nothing was stored (${answer.status}): ${said}`);
}

/** The requests of an upload by day. */
function costService(target: CostsTarget): CostService & { currency: () => Promise<string> } {
  const { ask, json } = callerOf(target);
  const application_id = target.application;
  const requireOk = ({ ok, status, text }: ServiceAnswer) => {
    if (!ok) throw new CommandError(`The service answered ${status}: ${messageIn(text)}`);
    return JSON.parse(text);
  };
  return {
    currency: async () => {
      const path = `/v1/applications/${encodeURIComponent(application_id)}`;
      return requireOk(await ask('GET', path, null, 'application/json')).currency;
    },
    recall: async (headings) =>
      requireOk(await json('/v1/costs/columns', { application_id, headings })).columns,
    remember: async (headings, columns) => {
      requireOk(await json('/v1/costs/columns', { application_id, headings, columns }));
    },
    send: async (rows, dry_run) => {
      const answer = await json('/v1/costs', { application_id, rows, dry_run });
      return answer.status === 400 ? { faults: faultsInMessage(messageIn(answer.text)) } : requireOk(answer);
    },
  };
}

const daysText = (days: DaysAndRows) =>
  days === null ? 'nothing' : `${days.from} to ${days.to} (${days.rows} rows)`;

/** Sends a file by days if it is larger than a request may be; null if it is not. */
async function uploadLarge(
  file: Uint8Array,
  target: CostsTarget,
  options: UploadOptions,
): Promise<UploadAnswer | null> {
  const service = costService(target);
  if (file.length <= SMALL_BYTES) return null;
  const currency = options.currency ?? (await service.currency());
  const large = await readLargeFile(file, { ...options, currency }, service.recall);
  if (large === null) return null;
  const bar = new cliProgress.SingleBar({ format: '{phase} [{bar}] {percentage}%', clearOnComplete: true });
  bar.start(100, 0, { phase: 'Checking' });
  const outcome = await uploadByDay(large, options.map, service, (share, phase) =>
    bar.update(Math.floor(100 * share), { phase: phase === 'check' ? 'Checking' : 'Storing' }),
  ).finally(() => bar.stop());
  if (outcome.outcome === 'refused') {
    const lines = outcome.faults.map(({ path, message }) => `${path} ${message}`.trim());
    throw new CommandError(`Nothing was stored: ${lines.join('\n')}`);
  }
  if (outcome.outcome === 'broken') {
    throw new CommandError(
      `Stored: ${daysText(outcome.stored)}. Not stored: ${daysText(outcome.missing)}, because: ${outcome.reason}\nRun the command again to complete it.`,
    );
  }
  if (!('rows' in large.parsed)) return outcome.totals;
  const { skipped, ignored } = large.parsed;
  return { ...outcome.totals, skipped, ignored_columns: ignored };
}

/** What a refusal says, whether it is JSON of ours or a proxy's text. */
function messageIn(text: string): string {
  try {
    const { message, error } = JSON.parse(text) as { message?: string; error?: string };
    return message ?? error ?? text;
  } catch {
    return text;
  }
}

function readMap(texts: readonly string[] = []): CostMap | null {
  const { map, faults } = parseCostMap(texts);
  if (faults.length > 0) throw new UsageError(faults.map(({ message }) => `--map ${message}.`).join(' '));
  return map;
}

await runCommand(
  {
    usage: USAGE,
    options: {
      url: { type: 'string' },
      application: { type: 'string' },
      currency: { type: 'string' },
      spread: { type: 'boolean', default: false },
      map: { type: 'string', multiple: true },
    },
    positionals: ['file'],
  },
  async ({ values, positionals: [file] }) => {
    if (!file) throw new UsageError('Pass the file to upload.');
    const target = await placeOf(values.url, values.application);
    const options = { currency: values.currency, spread: values.spread, map: readMap(values.map) };
    const bytes = await readFile(file).catch((error) => {
      throw new CommandError(`${file} cannot be read: ${error.message}`);
    });
    const answer = (await uploadLarge(bytes, target, options)) ?? (await uploadWhole(bytes, target, options));
    const { rows, unmatched, skipped = [], amounts = [], ignored_columns = [] } = answer;
    console.log(`${rows} rows stored; the names of ${unmatched} match no campaign, ad set or creative.`);
    for (const { currency, amount, amount_exact } of amounts) {
      console.log(`Spend: ${amount_exact ?? amount} ${currency.toUpperCase()}`);
    }
    if (ignored_columns.length > 0) console.log(`Columns that are not stored: ${ignored_columns.join(', ')}`);
    for (const { line, reason } of skipped) console.log(`Line ${line} ${reason}; not stored.`);
  },
);
