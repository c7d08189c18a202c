import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import Papa from 'papaparse';
import { type DeviceMetrics, type ImportedEvent, post, prepareEnvelopes } from './import-devices.ts';
import type { Target } from './import-file.ts';
import { type ExportedEvent, type Row, VENDORS, type VendorName } from './vendors.ts';

/** A team credential, used to create the creatives that devices are attributed to. Without one, all devices are organic. */
export type Team = { headerName: string; token: string } | null;

/**
 * Converts another service's raw export to envelopes. Each device keeps the export's id and install time and, with a team token, its
 * campaign, ad set and ad. Each event's key is a hash of its content, so that importing a file again counts nothing twice. Throws if the
 * file lacks the vendor's columns.
 */
export const prepareExport = (
  file: string,
  vendor: VendorName,
  target: Target,
  team: Team,
): Promise<string> => prepareEnvelopes(file, exportedEvents(file, vendor, target, team), target);

async function* exportedEvents(
  file: string,
  vendor: VendorName,
  target: Target,
  team: Team,
): AsyncGenerator<ImportedEvent> {
  const creatives = new Map<string, Promise<string>>();
  const { required, read } = VENDORS[vendor];
  let checked = false;
  for await (const row of rowsOf(file)) {
    if (!checked) {
      const missing = required.filter((name) => !(name in row));
      if (missing.length > 0) throw new Error(`${file} lacks these columns: ${missing.join(', ')}`);
      checked = true;
    }
    const event = read(row);
    if (!event) continue;
    const creativeToken = team && event.campaign ? await creativeOf(event, target, team, creatives) : null;
    yield {
      device: { id: event.deviceId, metrics: metricsOf(event, creativeToken) },
      envelope: envelopeOf(event),
    };
  }
}

function rowsOf(file: string): AsyncIterable<Row> {
  const stream = Papa.parse(Papa.NODE_STREAM_INPUT, {
    header: true,
    skipEmptyLines: true,
    // The parser removes a byte order mark, but then treats the quotes after it as part of the name.
    transformHeader: (name) => name.replace(/^\ufeff?"?|"$/g, '').trim(),
  });
  const input = createReadStream(file);
  input.once('error', (error) => stream.destroy(error));
  return input.pipe(stream);
}

/** Converts `YYYY-MM-DD HH:MM:SS` in UTC or epoch seconds to ISO 8601. Other text is returned unchanged, for the service to refuse. */
function toIso(text: string): string {
  if (/^\d{9,11}$/.test(text)) return new Date(Number(text) * 1000).toISOString();
  const match = /^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}:\d{2})(\.\d{1,3})?Z?$/.exec(text);
  return match ? `${match[1]}T${match[2]}${match[3] ?? ''}Z` : text;
}

function metricsOf(event: ExportedEvent, creativeToken: string | null): DeviceMetrics {
  const os = event.os || 'unknown';
  return {
    created_at: toIso(event.installedAt || event.at),
    data: {
      device_name: event.model || os,
      device_model: event.model || os,
      os_system: event.osVersion ? `${os} ${event.osVersion}` : os,
      timezone: event.timezone || 'unknown',
      ...(event.country ? { country: event.country } : {}),
      ...(creativeToken ? { creative_token: creativeToken } : {}),
    },
  };
}

/** The body of `/webhook`; null for an install, which is created with its device. */
function envelopeOf(event: ExportedEvent): Record<string, unknown> | null {
  if (event.kind === 'install') return null;
  const key = createHash('sha256').update(JSON.stringify(event)).digest('hex').slice(0, 32);
  const common = {
    created_at: toIso(event.at),
    event_id: `import:${key}`,
    ...(event.appVersion ? { app_version: event.appVersion } : {}),
  };
  const money = { value: Number(event.revenue || 0), currency: event.currency.toLowerCase() };
  switch (event.kind) {
    case 'session':
      return { ...common, type: 'retention', payload: {} };
    case 'ad':
      return {
        ...common,
        type: 'custom.ad',
        payload: {
          ...money,
          ad_id: event.placement || 'unknown',
          source: event.format || 'unknown',
          media_source: event.network,
        },
      };
    case 'purchase':
      return {
        ...common,
        type: 'custom.purchase',
        payload: {
          ...money,
          item_id: event.name || 'unknown',
          status: 'completed',
          ...(event.transactionId ? { tr_id: event.transactionId } : {}),
        },
      };
    case 'custom':
      return { ...common, type: 'custom', payload: { event_name: event.name || 'unknown' } };
  }
}

type Created = { creative: { tracking_link: string } };

/** The link token of the event's creative, which is created once per file and name. */
function creativeOf(
  { campaign, adset, creative }: ExportedEvent,
  target: Target,
  team: NonNullable<Team>,
  creatives: Map<string, Promise<string>>,
): Promise<string> {
  const body = {
    creative: creative || adset || campaign,
    campaign,
    adset: adset || 'Imported',
    app_api_key: target.apiKey,
  };
  const key = createHash('sha256').update(JSON.stringify(body)).digest('hex').slice(0, 32);
  const known = creatives.get(key);
  if (known !== undefined) return known;
  const headers = { [team.headerName]: team.token, 'Idempotency-Key': `import-${key}` };
  const made = post<Created>(`${target.url}/v1/creatives`, headers, body).then(
    (answer) => answer.creative.tracking_link.split('/').at(-1) ?? '',
  );
  creatives.set(key, made);
  return made;
}
