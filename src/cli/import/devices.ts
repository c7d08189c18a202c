import { createWriteStream, type WriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import type { ImportItem, Target } from './file.ts';
import { post } from './post.ts';
import type { Scratch } from './scratch.ts';
import {
  addTo,
  countReason,
  countWarnings,
  type ImportResult,
  type Reasons,
  type Warnings,
} from './summary.ts';

/** The largest batch that `/fetch-token/batch` accepts. */
const DEVICES_PER_REQUEST = 200;
/** The largest number of rows kept in memory until their devices have tokens. */
const MAX_WAITING = 20_000;

/** A body of `/fetch-token` without the device's id. */
export type ImportedMetrics = { created_at: string; data: Record<string, string> };

/** A row of a file, its line, the kind under which the summary counts it, and what is to be done with it. */
export type ImportedRow = { line: number; kind: string } & (
  | { outcome: 'repeated'; reason: string }
  | { outcome: 'rejected'; error: string; row: unknown }
  | {
      outcome: 'read';
      device: { id: string; metrics: ImportedMetrics };
      /** The events that the row stands for; none if it only introduces its device. */
      envelopes: Iterable<Record<string, unknown>>;
      row: unknown;
    }
);
type ReadRow = Extract<ImportedRow, { outcome: 'read' }>;

/**
 * Fetches the tokens of a file's devices and writes its events, as items of `importFile`, to one file and its rejected rows to another. Each
 * device keeps its own id, so that repeating the import finds the same device. Rows without events are accepted with their device. Returns
 * the outcomes of all other rows so far, why rows were not taken, and what was dropped of devices.
 */
export async function prepareRows(
  rows: AsyncIterable<ImportedRow>,
  target: Target,
  scratch: Scratch,
  files: { events: string; rejected: string },
): Promise<ImportResult> {
  const { summary, reasons, dropped }: ImportResult = { summary: {}, reasons: {}, dropped: {} };
  const events = createWriteStream(files.events);
  const rejected = createWriteStream(files.rejected);
  let wanted = new Map<string, ImportedMetrics>();
  let waiting: ReadRow[] = [];
  const reject = async (kind: string, rejection: { line: number; error: string; event: unknown }) => {
    addTo(summary, kind, { rejected: 1 });
    countReason(reasons, rejection.error);
    await write(rejected, { ...rejection, details: [] });
  };
  const send = async () => {
    const refusals = await fetchTokens(target, wanted, scratch, dropped);
    wanted = new Map();
    for (const { line, kind, device, envelopes, row } of waiting) {
      const creativeToken = scratch.tokenOf(device.id);
      if (creativeToken === null) {
        await reject(kind, { line, error: refusals.get(device.id) ?? 'has no token', event: row });
        continue;
      }
      let isFirst = true;
      for (const envelope of envelopes) {
        const item: ImportItem = { line, kind: isFirst ? kind : null, event: { ...envelope, creativeToken } };
        await write(events, item);
        isFirst = false;
      }
      if (isFirst) addTo(summary, kind, { accepted: 1 });
    }
    waiting = [];
  };
  try {
    for await (const row of rows) {
      const { line, kind } = row;
      addTo(summary, kind, { read: 1 });
      if (row.outcome === 'repeated') {
        addTo(summary, kind, { repeated: 1 });
        countReason(reasons, row.reason);
      } else if (row.outcome === 'rejected') await reject(kind, { line, error: row.error, event: row.row });
      else {
        const { id, metrics } = row.device;
        if (!wanted.has(id) && scratch.tokenOf(id) === null) wanted.set(id, metrics);
        waiting.push(row);
        if (wanted.size === DEVICES_PER_REQUEST || waiting.length === MAX_WAITING) await send();
      }
    }
    await send();
  } finally {
    await Promise.all([close(events), close(rejected)]);
  }
  return { summary, reasons, dropped };
}

async function write(output: WriteStream, line: unknown): Promise<void> {
  if (!output.write(`${JSON.stringify(line)}\n`)) {
    await new Promise<void>((resolve) => output.once('drain', () => resolve()));
  }
}

async function close(output: WriteStream): Promise<void> {
  output.end();
  await finished(output);
}

type DeviceAnswer = {
  results: (
    | { index: number; token: string; warnings?: Warnings }
    | { index: number; error: string; details?: unknown }
  )[];
};

/** Fetches the tokens of devices and saves them by device id. Returns why devices were refused. */
async function fetchTokens(
  target: Target,
  wanted: ReadonlyMap<string, ImportedMetrics>,
  scratch: Scratch,
  dropped: Reasons,
): Promise<Map<string, string>> {
  const refusals = new Map<string, string>();
  if (wanted.size === 0) return refusals;
  const ids = [...wanted.keys()];
  const devices = [...wanted].map(([id, { created_at, data }]) => ({
    type: 'device-metrics',
    created_at,
    data: { ...data, device_id: id },
  }));
  const headers = { [target.headerName]: target.apiKey };
  const { results } = await post<DeviceAnswer>(`${target.url}/fetch-token/batch`, headers, {
    devices,
    import: true,
  });
  if (results.length < ids.length) throw new Error(`${target.url} did not answer for every device`);
  for (const result of results) {
    const id = ids[result.index] ?? '';
    if ('token' in result) {
      scratch.saveToken(id, result.token);
      // Exports have no time zones of devices, so none is sent.
      countWarnings(
        dropped,
        result.warnings?.filter(({ path }) => path !== 'data.timezone'),
      );
    } else {
      const details = result.details === undefined ? '' : ` ${JSON.stringify(result.details)}`;
      refusals.set(id, `the device was refused: ${result.error}${details}`);
    }
  }
  return refusals;
}
