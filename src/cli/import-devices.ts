import { createWriteStream, type WriteStream } from 'node:fs';
import { rename } from 'node:fs/promises';
import { finished } from 'node:stream/promises';
import type { Target } from './import-file.ts';
import { exists } from './local-state.ts';

const ATTEMPTS = 8;
/** The largest batch that `/fetch-token/batch` accepts. */
const DEVICES_PER_REQUEST = 200;
/** The largest number of events kept in memory until their devices have tokens. */
const MAX_WAITING = 20_000;

/** An event of a file and its device. `envelope` is null for an event that only introduces its device. */
export type ImportedEvent = {
  device: { id: string; metrics: DeviceMetrics };
  envelope: Record<string, unknown> | null;
};
/** A body of `/fetch-token` without the device's id. */
export type DeviceMetrics = { created_at: string; data: Record<string, string> };

export const readyFileOf = (file: string) => `${file}.ready.ndjson`;

/**
 * Converts a file's events to envelopes in `<file>.ready.ndjson`. Each device gets a token under its own id, so that repeating the import
 * finds the same device. A finished file is kept, so that an interrupted import continues with it.
 */
export async function prepareEnvelopes(
  file: string,
  events: AsyncIterable<ImportedEvent>,
  target: Target,
): Promise<string> {
  const ready = readyFileOf(file);
  if (await exists(ready)) return ready;
  const tokens = new Map<string, string>();
  const output = createWriteStream(`${ready}.part`);
  let wanted = new Map<string, DeviceMetrics>();
  let waiting: ImportedEvent[] = [];
  const send = async () => {
    for (const [id, token] of await fetchTokens(target, wanted)) tokens.set(id, token);
    wanted = new Map();
    for (const { device, envelope } of waiting) {
      if (!envelope) continue;
      await write(output, `${JSON.stringify({ ...envelope, creativeToken: tokens.get(device.id) })}\n`);
    }
    waiting = [];
  };
  for await (const event of events) {
    const { id, metrics } = event.device;
    if (!tokens.has(id) && !wanted.has(id)) wanted.set(id, metrics);
    waiting.push(event);
    if (wanted.size === DEVICES_PER_REQUEST || waiting.length === MAX_WAITING) await send();
  }
  await send();
  output.end();
  await finished(output);
  await rename(`${ready}.part`, ready);
  return ready;
}

async function write(output: WriteStream, line: string): Promise<void> {
  if (!output.write(line)) await new Promise<void>((resolve) => output.once('drain', () => resolve()));
}

type DeviceAnswer = { results: ({ index: number; token: string } | { index: number; error: string })[] };

/** Fetches the tokens of devices, by device id. */
async function fetchTokens(
  target: Target,
  wanted: ReadonlyMap<string, DeviceMetrics>,
): Promise<Map<string, string>> {
  if (wanted.size === 0) return new Map();
  const ids = [...wanted.keys()];
  const devices = [...wanted].map(([id, { created_at, data }]) => ({
    type: 'device-metrics',
    created_at,
    data: { ...data, device_id: id },
  }));
  const headers = { [target.headerName]: target.apiKey };
  const { results } = await post<DeviceAnswer>(`${target.url}/fetch-token/batch`, headers, { devices });
  const tokens = new Map<string, string>();
  for (const result of results) {
    const id = ids[result.index] ?? '';
    if ('error' in result) throw new Error(`${target.url} refused the device ${id}: ${result.error}`);
    tokens.set(id, result.token);
  }
  if (tokens.size < ids.length) throw new Error(`${target.url} did not return a token for every device`);
  return tokens;
}

/** Sends JSON, with retries while the service is temporarily unavailable. Throws if the request is refused. */
export async function post<Answer>(
  url: string,
  headers: Record<string, string>,
  body: unknown,
): Promise<Answer> {
  for (let attempt = 1; ; attempt++) {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(body),
    }).catch(() => null);
    if (response?.ok) return (await response.json()) as Answer;
    const isTransient = !response || response.status === 429 || response.status >= 500;
    if (!isTransient || attempt === ATTEMPTS) {
      const { origin, pathname } = new URL(url);
      throw new Error(
        response ? `${origin} answered ${response.status} to ${pathname}` : `${origin} cannot be reached`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, 250 * 2 ** attempt));
  }
}
