import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { appendFile, readFile, rm, writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import { exists } from '../local-state.ts';
import { post } from './post.ts';
import {
  addReasons,
  addTo,
  countReason,
  countWarnings,
  type ImportSummary,
  type Reasons,
  type Warnings,
} from './summary.ts';

/** The size of a batch, below the limits of `/webhook/batch`. Every run splits a file in the same places. */
const BATCH_LINES = 500;
const BATCH_BYTES = 900_000;
const IN_FLIGHT = 4;

export type Target = { url: string; apiKey: string; headerName: string };

/** `lines` and `bytes` count from the start of the file to the point up to which everything is done. */
export type ImportProgress = {
  lines: number;
  bytes: number;
  accepted: number;
  rejected: number;
  /** Accepted and rejected items that have a kind. */
  kinds: ImportSummary;
  /** Why items of a kind were rejected. An import that an earlier release began has none. */
  reasons?: Reasons;
  /** What the service dropped of accepted items. Likewise. */
  dropped?: Reasons;
};

/** An event to send, and the line and kind under which it is reported. `kind` is null for an item that is not counted by kind. */
export type ImportItem = { line: number; kind: string | null; event: unknown };

type FileLine = { number: number; bytes: number; text: string };
type ImportRejection = Omit<ImportItem, 'kind'> & { error: string; details: unknown };
/** What a batch adds to the progress. */
type ImportOutcome = Omit<ImportProgress, 'rejected'> & { rejections: ImportRejection[] };
type BatchAnswer = {
  accepted: number;
  results: (
    | { index: number; event_id: string; warnings?: Warnings }
    | { index: number; error: string; details: unknown }
  )[];
};

export const progressFileOf = (file: string) => `${file}.progress.json`;
export const rejectedFileOf = (file: string) => `${file}.rejected.ndjson`;

const readEvent = (event: unknown, line: number): ImportItem => ({ line, kind: null, event });

/**
 * Sends a file of events, one JSON envelope per line unless `read` expects another form, in batches of 500. Progress is saved next to the file, so an interrupted import
 * continues from there. A batch that was sent before its progress was saved is sent again with the same Idempotency-Key and counts once.
 * Rejected lines go to `<file>.rejected.ndjson`, with the reason. Throws if the service cannot be reached or refuses the whole batch;
 * progress up to there is kept.
 */
export async function importFile(
  file: string,
  target: Target,
  onProgress: (progress: ImportProgress) => void,
  read: (parsed: unknown, line: number) => ImportItem = readEvent,
): Promise<ImportProgress> {
  const fingerprint = await hashFile(file);
  const progress = await readProgress(file, fingerprint);
  if (progress.lines === 0) await rm(rejectedFileOf(file), { force: true });
  onProgress(progress);
  const running: Promise<ImportOutcome>[] = [];
  const awaitOldest = async () => {
    const outcome = await running.shift();
    if (!outcome) return;
    const rejected = outcome.rejections.map((rejection) => `${JSON.stringify(rejection)}\n`).join('');
    if (rejected) await appendFile(rejectedFileOf(file), rejected);
    progress.lines += outcome.lines;
    progress.bytes += outcome.bytes;
    progress.accepted += outcome.accepted;
    progress.rejected += outcome.rejections.length;
    for (const [kind, counts] of Object.entries(outcome.kinds)) addTo(progress.kinds, kind, counts);
    progress.reasons ??= {};
    progress.dropped ??= {};
    addReasons(progress.reasons, outcome.reasons);
    addReasons(progress.dropped, outcome.dropped);
    await writeFile(progressFileOf(file), JSON.stringify({ fingerprint, ...progress }));
    onProgress(progress);
  };
  try {
    for await (const batch of batchesOf(file)) {
      const [first] = batch;
      if (!first || first.number <= progress.lines) continue;
      const sent = sendBatch(target, batch, `import-${fingerprint}-${first.number}`, read);
      // Awaited later; until then, its failure must not count as unhandled.
      sent.catch(() => undefined);
      running.push(sent);
      if (running.length === IN_FLIGHT) await awaitOldest();
    }
    while (running.length > 0) await awaitOldest();
  } finally {
    await Promise.allSettled(running);
  }
  await rm(progressFileOf(file), { force: true });
  return progress;
}

/** Identifies a file by its whole content, so that an import never continues in another one. */
export async function hashFile(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex').slice(0, 32);
}

async function readProgress(file: string, fingerprint: string): Promise<ImportProgress> {
  const none = { lines: 0, bytes: 0, accepted: 0, rejected: 0, kinds: {} };
  if (!(await exists(progressFileOf(file)))) return none;
  const saved: ImportProgress & { fingerprint: string } = JSON.parse(
    await readFile(progressFileOf(file), 'utf8'),
  );
  if (saved.fingerprint !== fingerprint) return none;
  const { fingerprint: _, ...progress } = saved;
  return progress;
}

async function* batchesOf(file: string): AsyncGenerator<FileLine[]> {
  let batch: FileLine[] = [];
  let bytes = 0;
  let number = 0;
  for await (const text of createInterface({
    input: createReadStream(file),
    crlfDelay: Number.POSITIVE_INFINITY,
  })) {
    number++;
    const line = { number, bytes: Buffer.byteLength(text) + 1, text };
    if (batch.length === BATCH_LINES || (bytes + line.bytes > BATCH_BYTES && batch.length > 0)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(line);
    bytes += line.bytes;
  }
  if (batch.length > 0) yield batch;
}

async function sendBatch(
  target: Target,
  batch: FileLine[],
  idempotencyKey: string,
  read: (parsed: unknown, line: number) => ImportItem,
): Promise<ImportOutcome> {
  const rejections: ImportRejection[] = [];
  const kinds: ImportSummary = {};
  const reasons: Reasons = {};
  const dropped: Reasons = {};
  const items: ImportItem[] = [];
  const reject = ({ kind, line, event }: ImportItem, error: string, details: unknown) => {
    rejections.push({ line, error, details, event });
    if (kind === null) return;
    addTo(kinds, kind, { rejected: 1 });
    countReason(reasons, error);
  };
  for (const { number, text, bytes } of batch) {
    if (text.trim() === '') continue;
    try {
      const item = read(JSON.parse(text), number);
      if (bytes <= BATCH_BYTES) items.push(item);
      else reject(item, `The line has ${bytes} bytes; the most is ${BATCH_BYTES}`, []);
    } catch {
      reject({ kind: null, line: number, event: text }, 'The line is not valid JSON', []);
    }
  }
  const headers = { [target.headerName]: target.apiKey, 'Idempotency-Key': idempotencyKey };
  const events = items.map(({ event }) => event);
  const answer =
    items.length > 0
      ? await post<BatchAnswer>(`${target.url}/webhook/batch`, headers, { events, import: true })
      : { accepted: 0, results: [] };
  for (const result of answer.results) {
    const item = items[result.index];
    if (!item) continue;
    if ('error' in result) {
      reject(item, result.error, result.details);
      continue;
    }
    countWarnings(dropped, result.warnings);
    if (item.kind !== null) addTo(kinds, item.kind, { accepted: 1 });
  }
  const bytes = batch.reduce((sum, line) => sum + line.bytes, 0);
  return { lines: batch.length, bytes, accepted: answer.accepted, rejections, kinds, reasons, dropped };
}
