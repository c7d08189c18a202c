import { rmSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { CommandError } from '../command.ts';
import type { LocalState } from '../local-state.ts';
import { findProcess } from './processes.ts';

type Holder = { pid: number; args: string[] };

const lockFile = ({ directory }: Pick<LocalState, 'directory'>) => path.join(directory, 'lock.json');

/**
 * Takes a state for a process, because two services on one state would both deliver and count its events. A lock whose processes have ended,
 * however they did, is taken over: an id that another program has by now is recognized by its arguments. Throws a `CommandError` if one
 * of them still runs. Taking it again for the same process changes nothing.
 */
export async function takeLock(state: Pick<LocalState, 'directory'>, pid: number): Promise<void> {
  const file = lockFile(state);
  const own = JSON.stringify([await holder(pid)]);
  const isTaken = await writeFile(file, own, { flag: 'wx', mode: 0o600 }).then(
    () => false,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') return true;
      throw error;
    },
  );
  if (!isTaken) return;
  for (const found of await readHolders(file)) {
    if (found.pid === pid || !(await isRunning(found))) continue;
    throw new CommandError(
      `${state.directory} is used by a service that runs already (process ${found.pid}). Stop it, or choose another directory: STATE_DIR=.wrangler/other npm start`,
    );
  }
  await rm(file, { force: true });
  await writeFile(file, own, { flag: 'wx', mode: 0o600 });
}

/** Adds a process that keeps the state in use if the first one is killed. */
export async function addHolder(state: Pick<LocalState, 'directory'>, pid: number): Promise<void> {
  const file = lockFile(state);
  await writeFile(file, JSON.stringify([...(await readHolders(file)), await holder(pid)]), { mode: 0o600 });
}

/** Called while the process ends, so it is synchronous. */
export function releaseLock(state: Pick<LocalState, 'directory'>): void {
  rmSync(lockFile(state), { force: true });
}

const holder = async (pid: number): Promise<Holder> => ({ pid, args: (await findProcess(pid))?.args ?? [] });

/** A file that a full disk cut off names nobody. */
async function readHolders(file: string): Promise<Holder[]> {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch {
    return [];
  }
}

async function isRunning({ pid, args }: Holder): Promise<boolean> {
  const found = await findProcess(pid);
  if (found) return found.args.join(' ') === args.join(' ');
  // The system does not show processes: whether there is one is all that can be known.
  return args.length === 0 && canSignal(pid);
}

function canSignal(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
