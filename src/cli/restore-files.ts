import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { inParallel } from '#lib/collections/in-parallel';
import { CommandError } from './command.ts';
import { readConfig } from './local-state.ts';

// A copy of a bucket in a folder, and the bucket that a deployment has.

/** The folders of a bucket that a restore reads. */
const FOLDERS = ['cubes', 'events', 'months', 'snapshots'];
const UPLOADED_AT_ONCE = 4;

type BackupFile = { key: string; file: string; size: number };

/** The files of a folder that belong to a backup. Throws a `CommandError` if there is no snapshot among them. */
export async function filesOf(folder: string): Promise<BackupFile[]> {
  const found: BackupFile[] = [];
  for (const name of FOLDERS) {
    const entries = await readdir(path.join(folder, name), { recursive: true, withFileTypes: true }).catch(
      () => [],
    );
    for (const entry of entries.filter((one) => one.isFile())) {
      const file = path.join(entry.parentPath, entry.name);
      const key = path.relative(folder, file).split(path.sep).join('/');
      found.push({ key, file, size: (await stat(file)).size });
    }
  }
  if (!found.some(({ key }) => /^snapshots\/[\d-]+\/manifest\.json$/.test(key))) {
    throw new CommandError(`${folder} has no complete snapshot: snapshots/<day>/manifest.json is missing.`);
  }
  return found;
}

/** Whether `--from` is a folder; otherwise it is the name of a bucket. */
export const isFolder = (from: string): Promise<boolean> =>
  stat(from).then(
    (found) => found.isDirectory(),
    () => false,
  );

/** The bucket of raw events that a deployment is bound to. */
export async function boundBucket(env: string | undefined): Promise<string> {
  const config = await readConfig();
  const section = env === undefined ? config : config.env?.[env];
  const bucket = section?.r2_buckets?.find(({ binding }) => binding === 'RAW_EVENTS')?.bucket_name;
  if (!bucket)
    throw new CommandError(`wrangler.toml has no bucket for raw events${env ? ` of ${env}` : ''}.`);
  return bucket;
}

/** Calls a route of the restore, and returns its answer. Throws a `CommandError` with what it refused. */
export type Call = <Answer>(method: string, path: string, body?: string | Uint8Array) => Promise<Answer>;

/** Uploads files that the deployment's bucket does not have yet. */
export async function uploadFiles(
  files: readonly BackupFile[],
  call: Call,
  onProgress: (uploaded: number, total: number) => void,
): Promise<void> {
  const { objects } = await call<{ objects: { key: string; size: number }[] }>('GET', '/restore/objects');
  const present = new Map(objects.map(({ key, size }) => [key, size]));
  const wanted = files.filter(({ key, size }) => present.get(key) !== size);
  let uploaded = 0;
  await inParallel(wanted, UPLOADED_AT_ONCE, async ({ key, file }) => {
    await call('PUT', `/restore/objects/${key}`, await readFile(file));
    onProgress(++uploaded, wanted.length);
  });
}
