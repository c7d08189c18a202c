import { createWriteStream, type WriteStream } from 'node:fs';
import { rename } from 'node:fs/promises';
import { finished } from 'node:stream/promises';
import type { Target } from './import-file.ts';
import { type ArchivedEvent, readParquet } from './import-parquet.ts';
import { exists } from './local-state.ts';

const ATTEMPTS = 8;
/** What `/fetch-token/batch` takes at once. */
const DEVICES_AT_ONCE = 200;
/** Events that wait for the tokens of their devices, at most. */
const MAX_WAITING = 20_000;

export const readyFileOf = (file: string) => `${file}.ready.ndjson`;

/**
 * Makes envelopes of a raw event file, in `<file>.ready.ndjson`: each device gets a token under its archived id, so that a
 * repetition finds the same device. Installs come with the devices; clicks have no envelope and are left out. A file that is
 * ready stays as it is, so that an import that was stopped goes on where it was.
 */
export async function prepareArchive(file: string, target: Target): Promise<string> {
  const ready = readyFileOf(file);
  if (await exists(ready)) return ready;
  const tokens = new Map<string, string>();
  const output = createWriteStream(`${ready}.part`);
  let wanted = new Map<string, string>();
  let waiting: ArchivedEvent[] = [];
  const send = async () => {
    for (const [id, token] of await fetchTokens(target, wanted)) tokens.set(id, token);
    wanted = new Map();
    for (const { device, envelope } of waiting) {
      if (!envelope) continue;
      await write(output, `${JSON.stringify({ ...envelope, creativeToken: tokens.get(device.id) })}\n`);
    }
    waiting = [];
  };
  for await (const event of readParquet(file)) {
    const { id, acquiredDay } = event.device;
    if (!tokens.has(id)) wanted.set(id, acquiredDay);
    waiting.push(event);
    if (wanted.size === DEVICES_AT_ONCE || waiting.length === MAX_WAITING) await send();
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

/** Tokens of devices by their ids; `wanted` has the acquisition day of each. */
async function fetchTokens(
  target: Target,
  wanted: ReadonlyMap<string, string>,
): Promise<Map<string, string>> {
  if (wanted.size === 0) return new Map();
  const ids = [...wanted.keys()];
  // Noon UTC is the archived day in every time zone from UTC-12 to UTC+11.
  const devices = [...wanted].map(([id, acquiredDay]) => ({
    type: 'device-metrics',
    created_at: `${acquiredDay}T12:00:00.000Z`,
    data: {
      device_name: 'archived',
      device_model: 'archived',
      os_system: 'archived',
      timezone: 'UTC',
      device_id: id,
    },
  }));
  const { results } = await post(target, '/fetch-token/batch', { devices });
  const tokens = new Map<string, string>();
  for (const result of results) {
    const id = ids[result.index] ?? '';
    if ('error' in result) throw new Error(`${target.url} refused the device ${id}: ${result.error}`);
    tokens.set(id, result.token);
  }
  if (tokens.size < ids.length) throw new Error(`${target.url} did not answer for every device`);
  return tokens;
}

async function post(target: Target, path: string, body: unknown): Promise<DeviceAnswer> {
  for (let attempt = 1; ; attempt++) {
    const response = await fetch(`${target.url}${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', [target.headerName]: target.apiKey },
      body: JSON.stringify(body),
    }).catch(() => null);
    if (response?.ok) return (await response.json()) as DeviceAnswer;
    const passing = !response || response.status === 429 || response.status >= 500;
    if (!passing || attempt === ATTEMPTS) {
      throw new Error(`${target.url} answered ${response?.status ?? 'nothing'} to ${path}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 250 * 2 ** attempt));
  }
}
