import { createReadStream, createWriteStream } from 'node:fs';
import { rename } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { finished } from 'node:stream/promises';
import type { Target } from './import-file.ts';
import { isParquet, readParquet } from './import-parquet.ts';
import { exists } from './local-state.ts';

const ATTEMPTS = 8;

/** An envelope without a token, and beside it the device that it is of; a click is of none. */
export type ArchivedLine = {
  type: string;
  created_at: string;
  event_id?: string;
  payload?: unknown;
  archived: { device_id?: string; acquired_day?: string };
};

export const readyFileOf = (file: string) => `${file}.ready.ndjson`;

/** Whether a file is one of raw events: Parquet, or a first line of the archive. */
export async function isArchive(file: string): Promise<boolean> {
  if (await isParquet(file)) return true;
  for await (const line of createInterface({ input: createReadStream(file) })) {
    try {
      const parsed: unknown = JSON.parse(line);
      return typeof parsed === 'object' && parsed !== null && 'archived' in parsed;
    } catch {
      return false;
    }
  }
  return false;
}

/**
 * Makes envelopes of archived events, in `<file>.ready.ndjson`: each device gets a token under its archived id, so that a
 * repetition finds the same device. Installs come with the devices; clicks have no envelope and are left out. A file that is
 * ready stays as it is, so that an import that was stopped goes on where it was.
 */
export async function prepareArchive(file: string, target: Target): Promise<string> {
  const ready = readyFileOf(file);
  if (await exists(ready)) return ready;
  const tokens = new Map<string, string>();
  const output = createWriteStream(`${ready}.part`);
  for await (const { archived, ...envelope } of readArchive(file)) {
    const { device_id, acquired_day } = archived;
    if (!device_id || !acquired_day) continue;
    let token = tokens.get(device_id);
    if (!token) {
      token = await fetchToken(target, device_id, acquired_day);
      tokens.set(device_id, token);
    }
    if (envelope.type === 'install') continue;
    if (!output.write(`${JSON.stringify({ ...envelope, creativeToken: token })}\n`)) {
      await new Promise<void>((resolve) => output.once('drain', () => resolve()));
    }
  }
  output.end();
  await finished(output);
  await rename(`${ready}.part`, ready);
  return ready;
}

async function* readArchive(file: string): AsyncGenerator<ArchivedLine> {
  if (await isParquet(file)) yield* readParquet(file);
  else {
    for await (const text of createInterface({ input: createReadStream(file) })) {
      if (text.trim() !== '') yield JSON.parse(text);
    }
  }
}

/** Noon UTC is the archived day in every time zone from UTC-12 to UTC+11. */
async function fetchToken(target: Target, deviceId: string, acquiredDay: string): Promise<string> {
  const data = { device_name: 'archived', device_model: 'archived', os_system: 'archived', timezone: 'UTC' };
  const body = JSON.stringify({
    type: 'device-metrics',
    created_at: `${acquiredDay}T12:00:00.000Z`,
    data: { ...data, device_id: deviceId },
  });
  for (let attempt = 1; ; attempt++) {
    const response = await fetch(`${target.url}/fetch-token`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', [target.headerName]: target.apiKey },
      body,
    }).catch(() => null);
    if (response?.ok) return ((await response.json()) as { token: string }).token;
    const passing = !response || response.status === 429 || response.status >= 500;
    if (!passing || attempt === ATTEMPTS) {
      throw new Error(`${target.url} answered ${response?.status ?? 'nothing'} to /fetch-token`);
    }
    await new Promise((resolve) => setTimeout(resolve, 250 * 2 ** attempt));
  }
}
