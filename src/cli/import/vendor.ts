import { createHash } from 'node:crypto';
import { placeholderId } from '#lib/input/placeholder';
import { amountShares } from '#lib/shares';
import { zoneOffset } from '#lib/time';
import { readTimestamp } from '#lib/timestamp';
import { readCsv } from './csv.ts';
import type { ImportedMetrics, ImportedRow } from './devices.ts';
import type { Target } from './file.ts';
import { post, RefusedRequest } from './post.ts';
import type { Scratch } from './scratch.ts';
import { type ExportedEvent, type ExportRow, faultOfIds, type Source, textOf } from './sources/exported.ts';
import { type ColumnMap, mappedSource } from './sources/mapped.ts';
import { VENDORS, type VendorName } from './vendors.ts';

/** A team credential, used to create the creatives that devices are attributed to. Without one, all devices are organic. */
export type Team = { headerName: string; token: string } | null;

export type Export = {
  file: string;
  /** The service whose columns the file has, or a map of them. */
  vendor: VendorName | ColumnMap;
  /** The IANA time zone of the times that name none. */
  timezone: string;
};

const KINDS = {
  install: 'installs',
  session: 'sessions',
  purchase: 'purchases',
  ad: 'ads',
  custom: 'custom events',
  other: 'other rows',
} as const;

/**
 * Reads another service's raw export. Each device keeps the export's id and install time and, with a team token, its network, campaign, ad
 * set and ad. Each event's key is derived from its content and, among equal rows, from its position, so that importing a file again counts
 * nothing twice. Throws if the file lacks columns that must be there.
 */
export async function* readExport(
  { file, vendor, timezone }: Export,
  target: Target,
  team: Team,
  scratch: Scratch,
): AsyncGenerator<ImportedRow> {
  const creatives = new Map<string, Promise<string>>();
  const now = Date.now();
  const source = typeof vendor === 'string' ? VENDORS[vendor] : mappedSource(vendor);
  const name = typeof vendor === 'string' ? vendor : 'map';
  let header: readonly string[] | undefined;
  for await (const { line, cells } of readCsv(file, (names) => missingIn(source, names).length === 0)) {
    if (!header) {
      header = readHeader(file, source, cells);
      continue;
    }
    const row = toRow(source, header, cells);
    const refuse = (error: string, kind: keyof typeof KINDS = 'other'): ImportedRow => ({
      line,
      kind: KINDS[kind],
      outcome: 'rejected',
      error,
      row,
    });
    if (cells.length !== header.length) {
      yield refuse(`has ${cells.length} fields, but the header has ${header.length}`);
      continue;
    }
    const event = source.read(row);
    if ('refused' in event) {
      yield refuse(event.refused, event.kind);
      continue;
    }
    const kind = KINDS[event.kind];
    if ('repeated' in event) {
      yield { line, kind, outcome: 'repeated', reason: event.repeated };
      continue;
    }
    const lost = faultOfIds(event);
    if (lost) {
      yield refuse(lost.refused, lost.kind);
      continue;
    }
    const at = readTime(event.at, timezone);
    const installedAt = event.installedAt === '' ? at : readTime(event.installedAt, timezone);
    const fault = faultOfTime(event.at, at, now) ?? faultOfTime(event.installedAt, installedAt, now);
    if (fault !== null || at === null || installedAt === null) {
      yield refuse(fault ?? 'has no time', event.kind);
      continue;
    }
    const { key, repeated } = keyOf(name, event, scratch);
    if (key === undefined) {
      yield { line, kind, outcome: 'repeated', reason: repeated };
      continue;
    }
    let creativeToken: string | null = null;
    try {
      creativeToken = team && (await creativeOf(event, target, team, creatives));
    } catch (error) {
      if (!(error instanceof RefusedRequest)) throw error;
      yield refuse(error.message, event.kind);
      continue;
    }
    const device = { id: event.deviceId, metrics: metricsOf(event, installedAt, creativeToken) };
    yield { line, kind, outcome: 'read', device, envelopes: envelopesOf(event, at, key), row };
  }
  if (!header) throw new Error(`${file} is empty`);
}

/** The columns that a file must have and lacks, by their first name. */
function missingIn({ columns, required, keyOf }: Source, names: readonly string[]): string[] {
  const known = new Set(names.map(keyOf));
  return required.flatMap((field) => {
    const wanted = columns[field] ?? [];
    return wanted.some((column) => known.has(keyOf(column))) ? [] : wanted.slice(0, 1);
  });
}

function readHeader(file: string, source: Source, cells: readonly string[]): readonly string[] {
  const missing = missingIn(source, cells);
  if (missing.length > 0) throw new Error(`${file} lacks these columns: ${missing.join(', ')}`);
  return cells;
}

const toRow = ({ keyOf }: Source, header: readonly string[], cells: readonly string[]): ExportRow =>
  Object.fromEntries(
    header.map((name, index) => [keyOf(name), cells[index] ?? '']).filter(([, cell]) => cell),
  );

/**
 * Epoch milliseconds of epoch seconds or milliseconds, or of a time that is local to the time zone unless it names an offset; of a day alone, its
 * beginning. Null if it is not a time.
 */
export function readTime(given: string, timezone: string): number | null {
  const text = /^\d{4}-\d{2}-\d{2}$/.test(given) ? `${given} 00:00:00` : given;
  if (/^\d{9,11}(?:\.\d+)?$/.test(text)) return Math.floor(Number(text) * 1000);
  if (/^\d{12,14}$/.test(text)) return Number(text);
  const isLocal = /^\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?$/.test(text);
  const sent = readTimestamp(isLocal ? text.replace('T', ' ') : text);
  const at = 'at' in sent ? sent.at : null;
  if (at === null || !isLocal) return at;
  // The offset at the instant itself differs from the first guess only near a change of the clocks.
  const guess = at - zoneOffset(timezone, at) * 60_000;
  return at - zoneOffset(timezone, guess) * 60_000;
}

function faultOfTime(text: string, at: number | null, now: number): string | null {
  if (at === null) return `"${text}" is not a time`;
  return at > now ? `"${text}" is in the future: check --timezone` : null;
}

type ImportKey = { key: string; repeated?: never } | { key?: never; repeated: string };

/**
 * The idempotency key of a row, or why it repeats an earlier row of the file. A repeat is a row with the id of an earlier purchase or, if it
 * has an id, with the same content; and a second install of a device. Equal rows without an id are separate events: their number in the file
 * tells them apart, which is the same in every export that contains them, because they have the same time.
 */
function keyOf(source: string, event: ExportedEvent, scratch: Scratch): ImportKey {
  const { kind, deviceId } = event;
  // The service takes a purchase with such an id as one without, and says so.
  const transactionId = placeholderId(event.transactionId) === null ? event.transactionId : '';
  const { at, name, revenue, currency, adNetwork, placement, format, impressions, params } = event;
  if (kind === 'install') {
    return scratch.count(`install:${deviceId}`) === 1
      ? { key: deviceId }
      : { repeated: 'a second install of the device' };
  }
  const content = [at, name, revenue, currency, adNetwork, placement, format, impressions, params];
  const hash = hashOf([source, kind, deviceId, transactionId, ...content]);
  const isSale = kind === 'purchase' && transactionId !== '';
  const count = scratch.count(isSale ? `sale:${transactionId}` : hash);
  if (count === 1) return { key: `import:${hash}` };
  if (transactionId === '') return { key: `import:${hash}:${count}` };
  return {
    repeated: isSale ? 'the transaction id of an earlier purchase' : 'equal to an earlier row with an id',
  };
}

const hashOf = (content: unknown) =>
  createHash('sha256').update(JSON.stringify(content)).digest('hex').slice(0, 32);

const isoOf = (at: number) => new Date(at).toISOString();

function metricsOf(event: ExportedEvent, installedAt: number, creativeToken: string | null): ImportedMetrics {
  const os = event.os || 'unknown';
  return {
    created_at: isoOf(installedAt),
    data: {
      device_name: event.model || os,
      device_model: event.model || os,
      os_system: event.osVersion ? `${os} ${event.osVersion}` : os,
      timezone: 'unknown',
      ...(event.country ? { country: event.country } : {}),
      ...(creativeToken ? { creative_token: creativeToken } : {}),
      ...(event.network ? { network: event.network } : {}),
    },
  };
}

/** The bodies of `/webhook` that a row stands for: none for an install, which is created with its device, and one per impression of an ad. */
function* envelopesOf(event: ExportedEvent, at: number, key: string): Generator<Record<string, unknown>> {
  if (event.kind === 'install') return;
  const { params } = event;
  const common = {
    created_at: isoOf(at),
    event_id: key,
    ...(event.appVersion ? { app_version: event.appVersion } : {}),
  };
  // Only custom events have parameters. The raw events of other kinds keep them as user properties.
  const withParams = Object.keys(params).length > 0 ? { ...common, wp: params } : common;
  const value = Number(event.revenue || 0);
  const currency = event.currency.toLowerCase();
  switch (event.kind) {
    case 'session':
      yield { ...withParams, type: 'retention', payload: {} };
      return;
    case 'ad':
      for (const [index, share] of amountShares(value, Number(event.impressions || 1)).entries()) {
        yield {
          ...withParams,
          event_id: index === 0 ? key : `${key}/${index}`,
          type: 'custom.ad',
          payload: {
            value: share,
            ...(currency || share === 0 ? { currency: currency || 'usd' } : {}),
            ad_id: event.placement || 'unknown',
            source: event.format || 'unknown',
            ...(event.adNetwork ? { media_source: event.adNetwork } : {}),
          },
        };
      }
      return;
    case 'purchase':
      yield {
        ...withParams,
        type: 'custom.purchase',
        payload: {
          value,
          currency,
          item_id: textOf(params.af_content_id) || event.name || 'unknown',
          status: 'completed',
          ...(event.transactionId ? { tr_id: event.transactionId } : {}),
        },
      };
      return;
    case 'custom':
      yield {
        ...common,
        type: 'custom',
        payload: {
          event_name: event.name || 'unknown',
          ...(Object.keys(params).length > 0 ? { params } : {}),
        },
      };
  }
}

type Created = { creative: { tracking_link: string } };

/** The campaign of devices whose export names only their network. */
const NO_CAMPAIGN = '(no campaign)';

/**
 * The names under which a device's acquisition appears; null if it is organic. The network stands in for the names that an export leaves out.
 */
function namesOf({ network, campaign, adset, creative }: ExportedEvent) {
  if (!network && !campaign && !adset && !creative) return null;
  return {
    creative: creative || adset || campaign || network,
    campaign: campaign || NO_CAMPAIGN,
    adset: adset || network || 'Imported',
  };
}

/** The link token of the event's creative, which is created once per file and name; null for an organic device. */
function creativeOf(
  event: ExportedEvent,
  target: Target,
  team: NonNullable<Team>,
  creatives: Map<string, Promise<string>>,
): Promise<string> | null {
  const names = namesOf(event);
  if (!names) return null;
  const body = { ...names, app_api_key: target.apiKey };
  const key = hashOf(body);
  const known = creatives.get(key);
  if (known !== undefined) return known;
  const headers = { [team.headerName]: team.token, 'Idempotency-Key': `import-${key}` };
  const made = post<Created>(`${target.url}/v1/creatives`, headers, body).then(
    (answer) => answer.creative.tracking_link.split('/').at(-1) ?? '',
  );
  creatives.set(key, made);
  return made;
}
