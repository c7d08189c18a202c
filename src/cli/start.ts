import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { SERVICE_NAME_FORM } from '#env';
import { CommandError, runCommand } from './command.ts';
import {
  exists,
  localState,
  NO_EXPLORER,
  optionalSecrets,
  QUIET,
  ROOT,
  readConfig,
  WRANGLER,
} from './local-state.ts';
import { runMinutes } from './schedule.ts';
import { type Demo, seedDemo } from './seed-demo.ts';
import { startStandIn } from './simulation/stand-in.ts';
import { IS_PREPARED, prepareState } from './wrangler/prepare-state.ts';
import { addHolder, releaseLock } from './wrangler/state-lock.ts';

const USAGE = `Usage: npm start [-- --empty]

Runs the service on this machine, with a demo team on the first start. Starting it again changes nothing that exists. --empty starts
without the demo team. PORT (default 8787), STATE_DIR (default .wrangler/state) and SERVICE_NAME (default "service") are read from the
environment. OUTBOUND_LOCAL=true lets destinations be on this machine, by http.`;

const READY_WITHIN_MS = 60_000;
/** When to say what takes long. */
const SAY_AFTER_MS = 3_000;

/** Says what is waited for, if it takes long. */
async function announced<Result>(what: string, work: Promise<Result>): Promise<Result> {
  const timer = setTimeout(() => console.log(`Still waiting: ${what} …`), SAY_AFTER_MS);
  return work.finally(() => clearTimeout(timer));
}

async function portIsFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1' }, () => server.close(() => resolve(true)));
  });
}

/** Waits until the service responds. Returns false if the wait was aborted first. */
async function isReady(baseUrl: string, aborted: AbortSignal): Promise<boolean> {
  while (!aborted.aborted) {
    const answer = await fetch(`${baseUrl}/health`).catch(() => null);
    if (answer?.ok) return true;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return false;
}

function describe(demo: Demo): string {
  const body = {
    type: 'device-metrics',
    created_at: new Date().toISOString(),
    data: {
      device_name: 'Pixel 9',
      device_model: 'Pixel 9',
      os_system: 'Android 16',
      timezone: 'Europe/Berlin',
    },
  };
  return `
  Ready on ${demo.base_url}

  Dashboard    ${demo.dashboard_url}
  Sign in as   ${demo.owner.email}
  Password     ${demo.owner.password ?? `changed since the first start; sign in at ${demo.dashboard_url}login`}

  API key      ${demo.api_key}   (header ${demo.service_name}-api-key)
  Team token   ${demo.team_token}   (header ${demo.service_name}-Token)
  Application  ${demo.application.id}

  Try it:

    curl ${demo.base_url}/fetch-token -H '${demo.service_name}-api-key: ${demo.api_key}' \\
      -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'

  These values are also in demo.json in the state directory. Stop with Ctrl-C. Wait a few seconds after the last event: the
  local queue is in memory, and events in it would be lost.
`;
}

const describeEmpty = (baseUrl: string) => `
  Ready on ${baseUrl}, without a demo team

  Create the first owner at ${baseUrl}/setup. Stop with Ctrl-C.
`;

async function start(empty: boolean): Promise<number> {
  const port = Number(process.env.PORT ?? 8787);
  if (!Number.isInteger(port) || port < 1 || port > 65535) {
    throw new CommandError(`PORT must be a number from 1 to 65535, not "${process.env.PORT}".`);
  }
  if (!(await portIsFree(port))) {
    throw new CommandError(
      `Port ${port} is in use. Stop the process that uses it, or choose another port: PORT=${port + 1} npm start`,
    );
  }
  const serviceName = process.env.SERVICE_NAME || String((await readConfig()).vars?.SERVICE_NAME);
  if (!SERVICE_NAME_FORM.test(serviceName)) {
    throw new CommandError(
      `SERVICE_NAME must start with a letter and contain only letters, digits and hyphens, not "${serviceName}".`,
    );
  }
  Object.assign(process.env, QUIET, NO_EXPLORER);
  // Files created from here on, also by wrangler, are readable only by their owner.
  process.umask(0o077);
  const state = localState();
  if (empty && (await exists(state.demoFile))) {
    throw new CommandError(
      `${state.directory} already has a demo team. Choose an empty directory: STATE_DIR=.wrangler/empty npm start -- --empty`,
    );
  }
  console.log('Preparing the local database …');
  const baseUrl = `http://localhost:${port}`;
  const prepared = prepareState(state, process.pid, async (db) =>
    empty ? null : seedDemo(db, state, { baseUrl, serviceName }),
  );
  const demo = await announced('creating the tables in the local database', prepared);
  process.once('exit', () => releaseLock(state));
  const standIn = await startStandIn(state.directory);
  const server = spawn(
    process.execPath,
    [
      WRANGLER,
      'dev',
      ...['--port', String(port), '--persist-to', state.directory, '--env-file', state.secretsFile],
      ...(await optionalSecrets(state)).flatMap(([name, value]) => ['--var', `${name}:${value}`]),
      ...['--var', `SERVICE_NAME:${serviceName}`],
      ...(process.env.OUTBOUND_LOCAL ? ['--var', `OUTBOUND_LOCAL:${process.env.OUTBOUND_LOCAL}`] : []),
      ...['--var', `STAND_IN_URL:${standIn.url}`],
      ...['--inspector-port', '0', '--log-level', 'warn', '--show-interactive-dev-session', 'false'],
      // Without this, wrangler warns that nothing triggers the schedules, although we do.
      '--test-scheduled',
    ],
    {
      cwd: ROOT,
      env: { ...process.env, [IS_PREPARED]: 'true' },
      stdio: ['ignore', 'inherit', 'inherit'],
    },
  );
  if (server.pid) await addHolder(state, server.pid);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => server.kill(signal));
  // A signal to npm ends the shell in between but does not reach this process, which would keep the port.
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && server.kill('SIGTERM'), 500).unref();
  const ended = new Promise<number>((resolve) => server.once('exit', (code) => resolve(code ?? 0)));
  // Aborted explicitly, because waiting for a server that has exited would keep this process alive.
  const over = new AbortController();
  server.once('exit', () => over.abort());
  const answered = isReady(baseUrl, AbortSignal.any([AbortSignal.timeout(READY_WITHIN_MS), over.signal]));
  const ready = await announced('building the Worker, and its first answer', answered);
  if (ready) {
    runMinutes(baseUrl, over.signal);
    console.log(demo ? describe(demo) : describeEmpty(baseUrl));
  } else if (!over.signal.aborted) {
    console.error(`The service did not respond within ${READY_WITHIN_MS / 1000} s, so it was stopped.`);
    server.kill();
    await ended;
    return 1;
  }
  return ended;
}

await runCommand(
  { usage: USAGE, options: { empty: { type: 'boolean', default: false } } },
  async ({ values }) => start(values.empty),
);
