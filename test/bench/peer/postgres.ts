import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { access, chown, constants, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const DEBIAN = '/usr/lib/postgresql';

/** Where Postgres's programs may be: on the path, or where Debian puts them, the newest version first. */
export async function usualFolders(): Promise<string[]> {
  const versions = await readdir(DEBIAN).catch(() => []);
  versions.sort((left, right) => Number(right) - Number(left));
  return [
    ...(process.env.PATH ?? '').split(path.delimiter),
    ...versions.map((version) => path.join(DEBIAN, version, 'bin')),
  ];
}

/** The first of these folders that has the programs a cluster needs; null if none has. */
export async function findPostgres(folders: readonly string[]): Promise<string | null> {
  const has = (folder: string, program: string) =>
    access(path.join(folder, program), constants.X_OK).then(
      () => true,
      () => false,
    );
  for (const folder of folders) {
    if ((await has(folder, 'initdb')) && (await has(folder, 'postgres'))) return folder;
  }
  return null;
}

export type Cluster = {
  /** The folder of its socket, as libpq and pg take it for a host. */
  host: string;
  user: string;
  pid: number;
  stop: () => Promise<void>;
};

const USER = 'bench';

/** As for a small machine of its own; `fsync` and `synchronous_commit` stay on, as they are by default. */
const SETTINGS = {
  listen_addresses: '',
  shared_buffers: '1GB',
  max_wal_size: '4GB',
  max_connections: '50',
};

/** Postgres refuses to run as root, so then it runs as the account that Debian makes for it, or as `nobody`. */
async function accountFor(): Promise<{ uid: number; gid: number } | null> {
  if (process.getuid?.() !== 0) return null;
  for (const name of ['postgres', 'nobody']) {
    const ids = await Promise.all(
      ['-u', '-g'].map((flag) =>
        promisify(execFile)('id', [flag, name]).then(
          ({ stdout }) => Number(stdout),
          () => null,
        ),
      ),
    );
    const [uid, gid] = ids;
    if (typeof uid === 'number' && typeof gid === 'number') return { uid, gid };
  }
  throw new Error('Postgres cannot run as root, and there is no other account for it.');
}

/** A new cluster in a temporary folder, which listens only on a socket in there; `stop` deletes it. */
export async function startPostgres(programs: string): Promise<Cluster> {
  const folder = await mkdtemp(path.join(tmpdir(), 'bench-peer-'));
  const account = await accountFor();
  if (account) await chown(folder, account.uid, account.gid);
  const data = path.join(folder, 'data');
  const children: ChildProcess[] = [];
  // Whatever this process exits for, even while the cluster is still starting.
  const abandon = () => {
    for (const child of children) child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', abandon);
  const remove = async () => {
    await rm(folder, { recursive: true, force: true });
    process.off('exit', abandon);
  };
  try {
    const made = promisify(execFile)(
      path.join(programs, 'initdb'),
      ['-D', data, '-U', USER, '--auth=trust', '--encoding=UTF8', '--locale=C'],
      { cwd: folder, ...account },
    );
    children.push(made.child);
    await made;
    const settings = { ...SETTINGS, unix_socket_directories: folder };
    const server = spawn(
      path.join(programs, 'postgres'),
      ['-D', data, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
      { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'], ...account },
    );
    children.push(server);
    const ended = new Promise<void>((resolve) => server.once('exit', () => resolve()));
    const stop = async () => {
      // A fast shutdown: connections are closed, and the data, which is deleted, is left consistent.
      server.kill('SIGINT');
      await ended;
      await remove();
    };
    await untilReady(server.stderr, ended);
    if (server.pid === undefined) throw new Error('Postgres has no process id');
    return { host: folder, user: USER, pid: server.pid, stop };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Waits until Postgres says that it takes connections; what it says afterwards is dropped. */
async function untilReady(log: NodeJS.ReadableStream, ended: Promise<void>): Promise<void> {
  let said = '';
  const ready = new Promise<void>((resolve) => {
    log.on('data', (chunk: Buffer) => {
      if (said.includes('ready to accept connections')) return;
      said += chunk.toString();
      if (said.includes('ready to accept connections')) resolve();
    });
  });
  const failed = ended.then(() => {
    throw new Error(`Postgres ended at its start:\n${said}`);
  });
  await Promise.race([ready, failed]);
}
