import { spawn, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ROOT } from '../../src/cli/local-state.ts';
import { startStandIn } from './stand-in.ts';

// The programs of docs/clients.md, each run as it stands there against a service that fails in every way that they claim to survive.
// A program is left out where its runtime is not installed.

const RETRY_EVENT = 'Temporarily unavailable; retry this event';
const EVENTS = 1_203;

/** By the language of its block: the program's file, how to see whether its runtime is there, and how to run it. */
const PROGRAMS = {
  js: { file: 'send-events.mjs', probe: [process.execPath, '--version'], run: [process.execPath] },
  python: { file: 'send_events.py', probe: ['python3', '--version'], run: ['python3'] },
  go: { file: 'send_events.go', probe: ['go', 'version'], run: ['go', 'run'] },
  java: { file: 'SendEvents.java', probe: ['javac', '-version'], run: ['java'] },
  php: {
    file: 'send_events.php',
    probe: ['php', '-r', 'exit(extension_loaded("curl") ? 0 : 1);'],
    run: ['php'],
  },
} as const;
type Language = keyof typeof PROGRAMS;

let folder: string;
let page: string;
let service: Awaited<ReturnType<typeof startStandIn>>;

beforeAll(async () => {
  page = await readFile(path.join(ROOT, 'docs/clients.md'), 'utf8');
  folder = await mkdtemp(path.join(tmpdir(), 'clients-test-'));
});
beforeEach(async () => {
  service = await startStandIn();
  return () => service.stop();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const isInstalled = ([command, ...args]: readonly string[]) =>
  command !== undefined && spawnSync(command, args).status === 0;

async function run(language: string, file: string, command: readonly string[], lines: readonly unknown[]) {
  const code = new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, 'm').exec(page)?.[1];
  if (!code) throw new Error(`The page has no program in ${language}`);
  const program = path.join(folder, file);
  await writeFile(program, code);
  const [executable = '', ...args] = command;
  const env = { ...process.env, SERVICE_URL: service.target.url, API_KEY: 'key' };
  const child = spawn(executable, [...args, program], { env, cwd: folder });
  // A program that does not start reads nothing; its exit code says so.
  child.stdin.on('error', () => undefined);
  child.stdin.end(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  const [code_, errors] = await Promise.all([ended, text(child.stderr), text(child.stdout)]);
  return { code: code_, errors };
}

const eventOf = (index: number) => ({
  ...{ type: 'retention', created_at: '2026-11-21T09:15:30Z', creativeToken: `token ${index}` },
  payload: { retentionDay: '1', note: `${index} "quoted" é` },
});

type Sent = { event_id?: string; creativeToken: string };
const sentIn = (body: Record<string, unknown>) => body.events as Sent[];

describe.each(Object.keys(PROGRAMS) as Language[])('the program in %s', (language) => {
  const { file, probe, run: command } = PROGRAMS[language];

  it.runIf(isInstalled(probe))(
    'delivers every event once, however the service fails, and names those that it refuses',
    async () => {
      const times: number[] = [];
      let isRetried = false;
      service.intercept = (_, body) => {
        times.push(Date.now());
        const events = sentIn(body);
        if (times.length === 1)
          return { status: 503, headers: { 'Retry-After': '2' }, body: { error: 'unavailable' } };
        if (times.length === 2) return 'hang up';
        if (events.length > 400) return { status: 413, body: { error: 'too large' } };
        const at = events.findIndex(({ creativeToken }) => creativeToken === 'token 7');
        if (at < 0 || isRetried) return null;
        isRetried = true;
        const results = events.map((_event, index) => ({ index, error: RETRY_EVENT, details: [] }));
        return { status: 200, body: { success: true, accepted: 0, rejected: events.length, results } };
      };
      const lines = Array.from({ length: EVENTS }, (_, index) => eventOf(index));
      const malformed = { ...eventOf(EVENTS), event_id: 'malformed', created_at: 'never' };
      const { code, errors } = await run(language, file, command, [...lines, malformed]);
      expect({ code, refused: errors.match(/^.+: /gm)?.length }).toEqual({ code: 1, refused: 1 });
      expect(errors).toContain('malformed: ');
      expect(service.events).toHaveLength(EVENTS);
      expect(service.events.map(({ event_id: _, ...event }) => event)).toEqual(expect.arrayContaining(lines));
      // An event has the same key in each try, and no other event has it.
      const keys = new Map<string, Set<string | undefined>>();
      for (const { body } of service.requests('/webhook/batch')) {
        expect(sentIn(body).length).toBeLessThanOrEqual(500);
        for (const { creativeToken, event_id } of sentIn(body))
          keys.set(creativeToken, (keys.get(creativeToken) ?? new Set()).add(event_id));
      }
      expect([...keys.values()].every((own) => own.size === 1 && !own.has(undefined))).toBe(true);
      expect(new Set([...keys.values()].flatMap((own) => [...own])).size).toBe(EVENTS + 1);
      expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(2_000);
      expect(service.asked.every(({ headers }) => headers['service-api-key'] === 'key')).toBe(true);
    },
    60_000,
  );

  it.runIf(isInstalled(probe))(
    'ends without an error if everything is delivered',
    async () => {
      const { code, errors } = await run(language, file, command, [
        eventOf(1),
        { ...eventOf(2), event_id: 'own' },
      ]);
      expect({ code, errors }).toEqual({ code: 0, errors: '' });
      expect(service.events).toMatchObject([eventOf(1), { ...eventOf(2), event_id: 'own' }]);
    },
    60_000,
  );

  it.runIf(isInstalled(probe))(
    'does not try again what is refused as a whole',
    async () => {
      service.intercept = () => ({ status: 401, body: { error: 'Unknown key' } });
      const { code, errors } = await run(language, file, command, [eventOf(1), eventOf(2)]);
      expect(code).toBe(1);
      expect(errors.match(/401 .*Unknown key/g)).toHaveLength(2);
      expect(service.asked).toHaveLength(1);
    },
    60_000,
  );
});

describe('the shell script', () => {
  it('delivers every event once, and prints those that are refused', async () => {
    let requests = 0;
    service.intercept = () => {
      requests++;
      if (requests === 1)
        return { status: 503, headers: { 'Retry-After': '1' }, body: { error: 'unavailable' } };
      return requests === 2 ? 'hang up' : null;
    };
    const lines = [eventOf(1), { ...eventOf(2), created_at: 'never' }, eventOf(3)];
    const { code, errors } = await run('sh', 'send_events.sh', ['sh'], lines);
    expect(code).toBe(1);
    expect(errors).toContain('"created_at":"never"');
    expect(service.events).toMatchObject([eventOf(1), eventOf(3)]);
    const keys = service.requests('/webhook').map(({ headers }) => headers['idempotency-key']);
    expect(keys).toHaveLength(5);
    expect(new Set(keys).size).toBe(3);
  }, 60_000);
});
