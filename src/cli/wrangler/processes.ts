import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

export type RunningProcess = { pid: number; parent: number; args: string[] };

/** What runs under a process id; null if nothing does, or if this machine does not say. */
export async function findProcess(pid: number): Promise<RunningProcess | null> {
  return (await readProc(pid)) ?? (await askPs(pid));
}

/** Linux. */
async function readProc(pid: number): Promise<RunningProcess | null> {
  const files = ['stat', 'cmdline'].map((name) => readFile(`/proc/${pid}/${name}`, 'utf8'));
  const [stat, cmdline] = await Promise.all(files).catch(() => []);
  if (stat === undefined || cmdline === undefined) return null;
  // The second field, a name in brackets, may contain anything; behind it are the state and the parent.
  const [, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { pid, parent: Number(parent), args: cmdline.split('\0').filter((argument) => argument !== '') };
}

/** Other Unix systems. Arguments with spaces are split. */
async function askPs(pid: number): Promise<RunningProcess | null> {
  const asked = promisify(execFile)('ps', ['-o', 'ppid=,args=', '-p', String(pid)]);
  const [parent, ...args] = (await asked.catch(() => ({ stdout: '' }))).stdout.trim().split(/\s+/);
  return parent ? { pid, parent: Number(parent), args } : null;
}

/** Finds the nearest process above this one that is wanted. */
export async function findAncestor(
  isWanted: (found: RunningProcess) => boolean,
): Promise<RunningProcess | null> {
  let found = await findProcess(process.ppid);
  while (found && !isWanted(found)) found = found.parent > 1 ? await findProcess(found.parent) : null;
  return found;
}
