import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { applyMigrations, localState, makeSecrets, QUIET, ROOT, WRANGLER } from './local-state.ts';
import { type Demo, seedDemo } from './seed-demo.ts';

// `npm start`: from a clone to a running service with nothing to configure. Started again, it changes nothing that is there.

const READY_WITHIN_MS = 60_000;

async function portIsFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1' }, () => server.close(() => resolve(true)));
  });
}

async function isReady(baseUrl: string, deadline: number): Promise<boolean> {
  while (Date.now() < deadline) {
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
  Password     ${demo.owner.password}

  API key      ${demo.api_key}
  Team token   ${demo.team_token}
  Application  ${demo.application.id}

  Try it:

    curl ${demo.base_url}/fetch-token -H 'service-api-key: ${demo.api_key}' \\
      -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'

  The same facts are in demo.json in the state directory. Stop with Ctrl-C.
`;
}

async function start(): Promise<number> {
  const port = Number(process.env.PORT ?? 8787);
  if (!Number.isInteger(port) || port < 1 || port > 65535) {
    console.error(`PORT must be a number from 1 to 65535, not "${process.env.PORT}".`);
    return 1;
  }
  if (!(await portIsFree(port))) {
    console.error(
      `Port ${port} is taken. Stop what listens there, or choose another: PORT=${port + 1} npm start`,
    );
    return 1;
  }
  Object.assign(process.env, QUIET);
  const state = localState();
  console.log('Preparing the local database …');
  await makeSecrets(state);
  await applyMigrations(state);
  const baseUrl = `http://localhost:${port}`;
  const demo = await seedDemo(state, baseUrl);
  const server = spawn(
    process.execPath,
    [
      WRANGLER,
      'dev',
      ...['--port', String(port), '--persist-to', state.directory, '--env-file', state.secretsFile],
      ...['--inspector-port', '0', '--log-level', 'warn', '--show-interactive-dev-session', 'false'],
    ],
    { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'] },
  );
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => server.kill(signal));
  // A signal to npm ends the shell between us and leaves us behind, the port taken.
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && server.kill('SIGTERM'), 500).unref();
  const ended = new Promise<number>((resolve) => server.once('exit', (code) => resolve(code ?? 0)));
  const ready = await Promise.race([isReady(baseUrl, Date.now() + READY_WITHIN_MS), ended.then(() => false)]);
  if (ready) console.log(describe(demo));
  else server.kill();
  return ended;
}

process.exitCode = await start();
