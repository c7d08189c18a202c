import { readFile } from 'node:fs/promises';
import { CommandError, checkUrl, runCommand, UsageError } from './command.ts';
import { serviceAt } from './local-state.ts';

const USAGE = `Usage: npm run costs -- <file> [--currency usd] [--spread] [--map date=Päivä …] [--url https://ingest.example.com --application app_…]

Uploads ad spend: an export of an advertising network by day, as CSV or Excel (.xlsx), or a CSV with the columns date, campaign, adset,
creative, currency, amount, impressions, clicks. It is stored whole or not at all; uploading it again changes nothing. --currency is for files
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
  read?: number;
  unmatched: number;
  skipped?: { line: number; reason: string }[];
  amounts?: { currency: string; amount: number; amount_exact?: string }[];
};

async function upload(
  file: string,
  place: CostsTarget,
  more: readonly (readonly [string, string])[],
): Promise<UploadAnswer> {
  const body = await readFile(file).catch((error) => {
    throw new CommandError(`${file} cannot be read: ${error.message}`);
  });
  const query = new URLSearchParams([['application_id', place.application], ...more.map((one) => [...one])]);
  const answer = await fetch(`${place.url}/v1/costs/file?${query}`, {
    method: 'PUT',
    headers: { [place.headerName]: place.teamToken, 'Content-Type': 'text/csv' },
    body,
  }).catch((error) => {
    throw new CommandError(`${place.url} cannot be reached: ${error.message}`);
  });
  const text = await answer.text();
  if (answer.ok) return JSON.parse(text);
  throw new CommandError(
    `Nothing was stored (${answer.status}): ${messageIn(text).replaceAll('; Line ', '\nLine ')}`,
  );
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
    const answer = await upload(file, await placeOf(values.url, values.application), [
      ...(values.currency ? [['currency', values.currency] as const] : []),
      ['spread', String(values.spread)],
      ...(values.map ?? []).map((one) => ['map', one] as const),
    ]);
    const { rows, unmatched, skipped = [], amounts = [] } = answer;
    console.log(`${rows} rows stored; the names of ${unmatched} match no campaign, ad set or creative.`);
    for (const { currency, amount, amount_exact } of amounts) {
      console.log(`Spend: ${amount_exact ?? amount} ${currency.toUpperCase()}`);
    }
    for (const { line, reason } of skipped) console.log(`Line ${line} ${reason}; not stored.`);
  },
);
