import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import path from 'node:path';

const SHARED_MEMORY = '/dev/shm';
const MIN_FREE_BYTES = 1024 ** 3;

function hasRoom(directory: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(directory);
    return bavail * bsize >= MIN_FREE_BYTES;
  } catch {
    return false;
  }
}

/**
 * Runs once, before all tests: lets the simulated databases, objects and buckets, which are temporary files, stand in memory. On a
 * disk, every commit waits for it. They stay on disk where memory is no file system (outside Linux) or is short (containers often
 * have 64 MB), and where TMPDIR is set.
 */
export default function storesInMemory(): (() => void) | undefined {
  if (process.env.TMPDIR || !hasRoom(SHARED_MEMORY)) return undefined;
  const directory = mkdtempSync(path.join(SHARED_MEMORY, 'attribution-tests-'));
  process.env.TMPDIR = directory;
  return () => rmSync(directory, { recursive: true, force: true });
}
