import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { bundleWorker } from '../../src/cli/bundle.ts';
import { QUIET, ROOT } from '../../src/cli/local-state.ts';
import { seededRandom } from '../helpers/random.ts';
import { JournalClient, type Tenant } from './client.ts';
import { CALM, type Faults, FULL, LOCKED, STORM, THROTTLED } from './faults.ts';
import { ChaosQueues } from './queue.ts';
import { ChaosReceiver } from './receiver.ts';
import { type Verdict, verify } from './verify.ts';
import type { Delivery, Outcome } from './worker.ts';

const CLIENTS = 6;
const DELIVERERS = 2;
const DEADLINE_MS = 60_000;
/** What a backend does between the loss of a counter and the restore of its application. */
const STEPS_AFTER_LOSS = 40;

/** How many event queues are sent to, in turn. */
const QUEUES = [1, 3, 2];

/** The weather after each start of the server, in turn. */
const WEATHER = [STORM, FULL, STORM, THROTTLED, LOCKED];

const wait = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** A server that is killed, with all that it was doing, and started again over the same state. */
class Server {
  url = '';
  kills = 0;
  private child: ChildProcess | null = null;
  private readonly args: string[];
  private readonly seed: number;

  constructor(modules: string[], state: string, harnessUrl: string, seed: number) {
    this.args = [JSON.stringify(modules), state, harnessUrl];
    this.seed = seed;
  }

  async start(faults: Faults): Promise<void> {
    // A separate process group, so that workerd is killed at the same moment and cannot clean up.
    const child = spawn(
      process.execPath,
      [path.join(ROOT, 'test/chaos/server.ts'), ...this.args, String(this.seed + this.kills)],
      { cwd: ROOT, env: { ...process.env, ...QUIET }, detached: true, stdio: ['ignore', 'pipe', 'pipe'] },
    );
    this.child = child;
    let errors = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      errors = (errors + chunk).slice(-4_000);
    });
    this.url = await new Promise<string>((resolve, reject) => {
      let output = '';
      child.stdout?.on('data', (chunk: Buffer) => {
        output = (output + chunk).slice(-4_000);
        const found = /http:\/\/127\.0\.0\.1:\d+/.exec(output);
        if (found) resolve(found[0]);
      });
      child.once('exit', (code) => reject(new Error(`the server ended with ${code}:\n${output}${errors}`)));
    });
    await this.control('faults', faults);
  }

  async kill(): Promise<void> {
    const { child } = this;
    if (!child?.pid || child.exitCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    process.kill(-child.pid, 'SIGKILL');
    await ended;
    this.child = null;
    this.kills++;
  }

  async control<Answer>(name: string, body: unknown = {}): Promise<Answer> {
    const response = await fetch(`${this.url}/chaos/${name}`, {
      method: 'POST',
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(20_000),
    });
    if (!response.ok) throw new Error(`${name} answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as Answer;
  }
}

/**
 * Real HTTP traffic for `seconds` while the database, the bucket and the queue fail at random, messages come twice and out of order,
 * counters die in the middle of a call, their number grows, the number of queues changes, reports are read, the bucket is emptied, and the
 * server is killed every few seconds, after which the database may be full, locked or too busy; then calm, until everything is delivered and parked
 * messages are replayed. Then a counter loses what it stored, and its application is restored while it receives events. A destination's receiver fails in many ways, and is killed with the server. The seed decides every choice of the harness, but not how the processes interleave.
 */
export async function runChaos(seed: number, seconds: number): Promise<Verdict> {
  const folder = await mkdtemp(path.join(tmpdir(), 'chaos-'));
  const random = seededRandom(seed);
  const queues = new ChaosQueues(seededRandom(seed + 1));
  const receiver = new ChaosReceiver(seededRandom(seed + 3));
  await receiver.open();
  const modules = await bundleWorker(path.join(ROOT, 'test/chaos/worker.ts'), path.join(folder, 'worker'));
  const server = new Server(modules, path.join(folder, 'state'), await queues.open(), seed);
  try {
    await server.start(CALM);
    const tenant = await server.control<Tenant>('tenant');
    const client = new JournalClient(seededRandom(seed + 2), tenant, () => server.url);
    await client.addDestination(receiver.url);
    await server.control('faults', STORM);
    queues.failing = 0.15;
    receiver.failing = 0.3;
    const end = Date.now() + seconds * 1000;
    // On a slow machine it takes longer: until every weather was there.
    const isStorm = (margin = 0) => Date.now() < end - margin || server.kills < WEATHER.length;
    const duringStorm = async (work: () => Promise<unknown>, pause: () => number) => {
      while (isStorm()) {
        await work();
        await wait(pause());
      }
    };
    const faults: Record<string, number> = { lostObjects: 0, replayed: 0 };
    let weather = STORM;
    /** Adds up what this process has seen, which dies with it. */
    const collect = async () => {
      const counts = await server.control<Record<string, number>>('faults', weather).catch(() => ({}));
      for (const [name, count] of Object.entries(counts)) faults[name] = (faults[name] ?? 0) + count;
    };
    const deliver = (delivery: Delivery) => server.control<Outcome>('deliver', delivery);
    await Promise.all([
      ...Array.from({ length: CLIENTS }, () =>
        duringStorm(
          () => client.step(),
          () => 0,
        ),
      ),
      ...Array.from({ length: DELIVERERS }, () =>
        duringStorm(
          () => queues.deliver(deliver, true),
          () => 20 + random() * 100,
        ),
      ),
      duringStorm(
        () => server.control('minute').catch(() => null),
        () => 500 + random() * 1000,
      ),
      duringStorm(
        () => server.control('ring', tenant).catch(() => null),
        () => 500 + random() * 500,
      ),
      duringStorm(
        () => client.readReport(),
        () => 200 + random() * 500,
      ),
      duringStorm(
        async () => {
          const lost = await server.control<number>('lose-bucket').catch(() => 0);
          faults.lostObjects = (faults.lostObjects ?? 0) + lost;
        },
        () => 2000 + random() * 4000,
      ),
      duringStorm(
        () => server.control('shards', tenant).catch(() => null),
        () => (seconds * 1000) / 3,
      ),
      duringStorm(
        () => {
          faults.queueChanges = (faults.queueChanges ?? 0) + 1;
          return server.control('queues', QUEUES[faults.queueChanges % QUEUES.length]).catch(() => null);
        },
        () => 500 + random() * 1000,
      ),
      (async () => {
        for (;;) {
          await wait(1500 + random() * 3500);
          if (!isStorm(1000)) return;
          await collect();
          await Promise.all([server.kill(), receiver.kill()]);
          await receiver.open();
          weather = WEATHER[server.kills % WEATHER.length] ?? STORM;
          await server.start(weather);
        }
      })(),
    ]);
    queues.failing = 0;
    receiver.failing = 0;
    await collect();
    await server.control('faults', CALM);
    // What is left to do grows with what was sent.
    const deadline = Date.now() + DEADLINE_MS + seconds * 1000;
    for (;;) {
      while (queues.backlog > 0 && Date.now() < deadline) await queues.deliver(deliver, false);
      if (queues.backlog > 0) throw new Error(`${queues.backlog} messages could not be delivered`);
      const replayed = await client.replayParked();
      faults.replayed = (faults.replayed ?? 0) + replayed;
      if (replayed === 0) break;
    }
    const settle = async () => {
      while (!(await server.control<boolean>('settled', tenant))) {
        if (Date.now() > deadline)
          throw new Error('the counters could not bring all they have to the reports');
      }
    };
    const deliverAll = async () => {
      while (queues.backlog > 0 && Date.now() < deadline) await queues.deliver(deliver, false);
    };
    await settle();
    // What is in no snapshot and no file would be lost with it.
    faults.lostDevices = await server.control<number>('lose-counter', tenant);
    for (let step = 0; step < STEPS_AFTER_LOSS; step++) await client.step();
    await deliverAll();
    faults.parkedAsUnknown = await server.control<number>('restore', tenant);
    await deliverAll();
    await settle();
    while (!(await client.hurryDeliveries())) {
      if (Date.now() > deadline) throw new Error('the destination could not send all it has');
      await wait(200);
    }
    const counts = { ...queues.counts, ...receiver.counts, ...faults, kills: server.kills };
    return await verify(server.url, tenant, { client, receiver }, counts);
  } finally {
    await server.kill();
    queues.close();
    await receiver.kill();
    await rm(folder, { recursive: true, force: true });
  }
}
