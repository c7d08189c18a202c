import { readdir, readFile } from 'node:fs/promises';

// What processes use, as Linux's /proc tells it. Where there is no /proc, every figure is NaN, and the benchmark leaves it out.

/** Of the clock that /proc counts in, on every architecture of today: see proc(5). */
const TICKS_PER_SECOND = 100;

type ProcessStat = { command: string; parent: number; cpuSeconds: number; reapedCpuSeconds: number };

/** Reads the text of `/proc/<pid>/stat`. A command may contain spaces and parentheses, so fields are counted from the last one. */
export function parseStat(text: string): ProcessStat {
  const end = text.lastIndexOf(')');
  const fields = text.slice(end + 2).split(' ');
  // Numbered as in proc(5), where the field after the command is the third.
  const field = (number: number) => Number(fields[number - 3]);
  return {
    command: text.slice(text.indexOf('(') + 1, end),
    parent: field(4),
    cpuSeconds: (field(14) + field(15)) / TICKS_PER_SECOND,
    reapedCpuSeconds: (field(16) + field(17)) / TICKS_PER_SECOND,
  };
}

const readStat = async (pid: number): Promise<ProcessStat | null> => {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  return text === null ? null : parseStat(text);
};

/** The processes that a process started and that still run. */
async function childrenOf(pid: number): Promise<{ pid: number; command: string }[]> {
  const pids = (await readdir('/proc').catch(() => [])).map(Number).filter(Number.isInteger);
  const stats = await Promise.all(pids.map(async (one) => ({ pid: one, stat: await readStat(one) })));
  return stats.flatMap(({ pid: one, stat }) =>
    stat?.parent === pid ? [{ pid: one, command: stat.command }] : [],
  );
}

/** CPU seconds that a process has used, those of its threads and of the kernel for it included. */
export async function cpuSeconds(pid: number): Promise<number> {
  return (await readStat(pid))?.cpuSeconds ?? Number.NaN;
}

/**
 * CPU seconds of all running threads of a process, to the nanosecond, where `cpuSeconds` has ticks of 10 ms. Without those of ended threads,
 * so a difference is of use only while none ends.
 */
export async function threadCpuSeconds(pid: number): Promise<number> {
  const folder = `/proc/${pid}/task`;
  const threads = await readdir(folder).catch(() => null);
  if (threads === null) return Number.NaN;
  const spent = await Promise.all(
    threads.map(async (thread) => readFile(`${folder}/${thread}/schedstat`, 'utf8').catch(() => '0')),
  );
  return spent.reduce((sum, text) => sum + runSeconds(text), 0);
}

/** Reads the text of `/proc/<pid>/task/<thread>/schedstat`: nanoseconds on a CPU, nanoseconds waiting for one, turns. */
export const runSeconds = (text: string): number => Number(text.split(' ')[0]) / 1e9;

/** `cpuSeconds` with the processes that it started, ended ones included. */
export async function cpuSecondsOfAll(pid: number): Promise<number> {
  const stat = await readStat(pid);
  if (!stat) return Number.NaN;
  const children = await Promise.all((await childrenOf(pid)).map((child) => cpuSecondsOfAll(child.pid)));
  // A process that ended between two looks counts with its parent's ended ones at the next.
  const alive = children.filter((seconds) => !Number.isNaN(seconds));
  return alive.reduce((sum, seconds) => sum + seconds, stat.cpuSeconds + stat.reapedCpuSeconds);
}

const LOOK_MS = 50;
const MAX_LOOKS = 40;

/** Waits until a process hardly works any more, two seconds at most: what it still does for earlier requests is not part of the next. */
export async function untilIdle(pid: number): Promise<void> {
  let used = await cpuSeconds(pid);
  for (let look = 0; look < MAX_LOOKS && !Number.isNaN(used); look++) {
    await new Promise<void>((resolve) => setTimeout(resolve, LOOK_MS));
    const before = used;
    used = await cpuSeconds(pid);
    if (used - before <= 1 / TICKS_PER_SECOND) return;
  }
}

/** The most memory that a process has held, in MB. */
export async function peakMemoryMb(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(text)?.[1];
  return kilobytes === undefined ? Number.NaN : Number(kilobytes) / 1000;
}

/** The workerd that this process started; NaN where the system does not tell. */
export async function findWorkerd(): Promise<number> {
  const all = await childrenOf(process.pid);
  return all.find(({ command }) => command === 'workerd')?.pid ?? Number.NaN;
}
