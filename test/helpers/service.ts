import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../../src/cli/local-state.ts';
import type { Demo } from '../../src/cli/seed-demo.ts';
import { COMPILE_CACHE } from './compile-cache.ts';

/** A service that `npm start` would have started, on a port and a state of its own. */
export type Service = {
  demo: Demo;
  stateDir: string;
  stop: () => Promise<void>;
  /** Stops the service while something else writes to its state, and starts it again at the same address. */
  stopWhile: (work: () => Promise<void>) => Promise<void>;
};

export async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve, reject) => {
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', resolve);
  });
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

/** Throws when the start ends before it is ready. */
async function start(stateDir: string, port: number, options: readonly string[] = []): Promise<ChildProcess> {
  const server = spawn(process.execPath, ['src/cli/start.ts', ...options], {
    cwd: ROOT,
    // So that a test can receive what destinations send.
    env: {
      ...process.env,
      ...COMPILE_CACHE,
      PORT: String(port),
      STATE_DIR: stateDir,
      OUTBOUND_LOCAL: 'true',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise<void>((resolve, reject) => {
    server.stdout.on('data', (text) => String(text).includes('Ready on') && resolve());
    server.once('exit', (code) => reject(new Error(`the start ended with ${code}`)));
  });
  return server;
}

async function end(server: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => server.once('exit', resolve));
  if (server.exitCode === null && server.kill('SIGTERM')) await ended;
}

/** Sends a history of people to a service that runs on these stores. The same options send the same history. */
export async function simulate(
  { stateDir }: Pick<Service, 'stateDir'>,
  { devices, days, seed }: { devices: number; days: number; seed?: number },
): Promise<void> {
  const options = ['--devices', `${devices}`, '--days', `${days}`, ...(seed ? ['--seed', `${seed}`] : [])];
  const env = { ...process.env, ...COMPILE_CACHE, STATE_DIR: stateDir };
  await promisify(execFile)(process.execPath, ['src/cli/simulate.ts', ...options], { cwd: ROOT, env });
}

const newState = () => mkdtemp(path.join(tmpdir(), 'attribution-e2e-'));

/** A service without a demo team, as one on the internet begins. */
export async function startEmptyService() {
  const [stateDir, port] = [await newState(), await freePort()];
  const server = await start(stateDir, port, ['--empty']);
  return {
    baseUrl: `http://localhost:${port}`,
    stateDir,
    stop: async () => {
      await end(server);
      await rm(stateDir, { recursive: true, force: true });
    },
  };
}

export async function startService(): Promise<Service> {
  const [stateDir, port] = [await newState(), await freePort()];
  let server = await start(stateDir, port);
  const demo: Demo = JSON.parse(await readFile(path.join(stateDir, 'demo.json'), 'utf8'));
  return {
    demo,
    stateDir,
    stop: async () => {
      await end(server);
      await rm(stateDir, { recursive: true, force: true });
    },
    stopWhile: async (work) => {
      await end(server);
      await work();
      server = await start(stateDir, port);
    },
  };
}
