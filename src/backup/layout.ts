import * as z from 'zod';
import { settingsOf } from '#env';
import { SNAPSHOTS } from '#lake';
import { hmac, secretsIn } from '#lib/crypto';
import { toBase64Url } from '#lib/encoding/base64url';
import { requireKnownFormat, STORE_FORMATS } from '#lib/encoding/store-formats';

// Where a snapshot is in the bucket: `snapshots/<UTC day>/`. Rows are in parts (see `writeParts`):
//   <application>/<table>-00000.jsonl            an application's rollups
//   <application>/counters/<shard>/<table>-….jsonl  the tables of its counters
//   <application>/done.json                      what the two consist of, once both are complete
//   settings/<table>-00000.jsonl                 every other table
//   manifest.json                                written last: a snapshot without it is not complete
// `snapshots/new-devices/` and `snapshots/erased/` have what happened after it: see `NewDevices` and `eraseDevice`.

export const NEW_DEVICES = `${SNAPSHOTS}new-devices/`;

export const folderOf = (day: string) => `${SNAPSHOTS}${day}`;
export const manifestKey = (day: string) => `${folderOf(day)}/manifest.json`;
export const applicationFolder = (day: string, applicationId: string) => `${folderOf(day)}/${applicationId}`;
export const doneKey = (day: string, applicationId: string) =>
  `${applicationFolder(day, applicationId)}/done.json`;
export const counterFolder = (day: string, applicationId: string, shard: number) =>
  `${applicationFolder(day, applicationId)}/counters/${shard}`;
export const settingsFolder = (day: string) => `${folderOf(day)}/settings`;

const Tables = z.lazy(() => z.record(z.string(), z.object({ rows: z.number(), parts: z.number() })));

export const ApplicationCopy = z.lazy(() =>
  z.object({
    id: z.string(),
    /** Epoch milliseconds: when the copy was made, and from when on an event may have been delivered after it. */
    takenAt: z.number(),
    since: z.number(),
    tables: Tables,
    /** By shard. */
    counters: z.array(
      z.object({
        countedBatch: z.number(),
        sequence: z.number(),
        run: z.number(),
        shards: z.number(),
        raisedBytes: z.number(),
        tables: Tables,
      }),
    ),
  }),
);
export type ApplicationCopy = z.infer<typeof ApplicationCopy>;

export const Manifest = z.lazy(() =>
  z.object({
    version: z.number().max(STORE_FORMATS.snapshot.number),
    takenAt: z.number(),
    /** Tells whether a deployment has the same secrets, and nothing about them. */
    secrets: z.record(z.string(), z.string()),
    settings: Tables,
    applications: z.array(ApplicationCopy),
    /** Applications of which this snapshot has no counters and no rollups, because copying them failed. */
    missing: z.array(z.object({ id: z.string(), shards: z.number() })),
  }),
);
export type Manifest = z.infer<typeof Manifest>;

export const SECRETS = ['TOKEN_SECRET', 'KEY_ENCRYPTION_SECRET', 'SESSION_SECRET'] as const;

const markOf = async (name: string, secret: string): Promise<string> =>
  toBase64Url(await hmac(secret, `snapshot:${name}`)).slice(0, 22);

/** A keyed hash for each secret, with its newest value. */
export async function secretMarks(env: Env): Promise<Record<string, string>> {
  const settings = settingsOf(env);
  const marks = SECRETS.map(async (name) => [name, await markOf(name, settings[name])] as const);
  return Object.fromEntries(await Promise.all(marks));
}

/** The secrets of which this deployment lacks the value that marked a snapshot. */
export async function missingSecrets(env: Env, marks: Record<string, string>): Promise<string[]> {
  const settings = settingsOf(env);
  const missing: string[] = [];
  for (const name of SECRETS) {
    const own = await Promise.all(secretsIn(settings[name]).map((secret) => markOf(name, secret)));
    if (!own.some((mark) => mark === marks[name])) missing.push(name);
  }
  return missing;
}

/** Reads the manifest of a snapshot; null if that is not complete. Throws `NewerFormatError` if a newer release wrote it. */
export async function readManifest(bucket: R2Bucket, day: string): Promise<Manifest | null> {
  const json = await readJson(bucket, manifestKey(day));
  const versioned = z.object({ version: z.number() }).safeParse(json);
  if (versioned.success) requireKnownFormat('snapshot', versioned.data.version);
  const read = Manifest.safeParse(json);
  return read.success ? read.data : null;
}

export const readJson = async (bucket: R2Bucket, key: string): Promise<unknown> => {
  const object = await bucket.get(key);
  return object ? object.json() : null;
};

export const writeJson = (bucket: R2Bucket, key: string, value: unknown) =>
  bucket.put(key, JSON.stringify(value));

/** The days of the snapshots in a bucket, newest first, complete or not. */
export async function snapshotDays(bucket: R2Bucket): Promise<string[]> {
  const { delimitedPrefixes } = await bucket.list({ prefix: SNAPSHOTS, delimiter: '/' });
  return delimitedPrefixes
    .map((prefix) => prefix.slice(SNAPSHOTS.length, -1))
    .filter((day) => /^\d{4}-\d\d-\d\d$/.test(day))
    .sort()
    .reverse();
}
