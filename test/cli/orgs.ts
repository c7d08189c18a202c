import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'vitest';
import { QUIET, ROOT } from '../../src/cli/local-state.ts';
import { type Binding, StandIn, TOKEN } from './cloudflare.ts';
import { runScript } from './process.ts';

/** Uploaded in the place of the service, of which these tests look at nothing: to build it for each upload took minutes. */
const WORKER = `export class Counter {}
export class CreativeRegistry {}
export class Destination {}
export default {};
`;

export const PASSPHRASE = 'a passphrase of the tests';

/**
 * `npm run org` with a configuration of its own, against a stand-in of Cloudflare's API. `isBuilt`: uploads the service itself, which wrangler builds
 * each time.
 */
export async function startOrgs(env: Record<string, string> = {}, { isBuilt = false } = {}) {
  const folder = await mkdtemp(path.join(tmpdir(), 'org-test-'));
  const config = path.join(folder, 'wrangler.toml');
  const toml = await readFile(path.join(ROOT, 'wrangler.toml'), 'utf8');
  const places = isBuilt ? ['dist/index.mjs', 'src/dashboard/static', 'migrations'] : ['migrations'];
  const placed = places.reduce(
    (text, place) => text.replace(`"${place}"`, JSON.stringify(path.join(ROOT, place))),
    toml,
  );
  const original = isBuilt
    ? placed
    : placed
        .replace('dist/index.mjs', 'worker/index.mjs')
        .replace('src/dashboard/static', 'worker')
        .replace(/^command = .*/m, 'command = ""');
  const main = path.join(folder, 'worker/index.mjs');
  await mkdir(path.dirname(main));
  await writeFile(main, WORKER);
  await writeFile(config, original);
  const account = new StandIn();
  const apiUrl = await account.open();
  /** Everything that any command printed. */
  const printed: string[] = [];

  async function runWith(
    own: Record<string, string>,
    ...args: string[]
  ): Promise<{ code: number | null; output: string }> {
    const command = runScript('org.ts', {
      args: [...args, '--config', config],
      env: {
        ORG_PASSPHRASE: PASSPHRASE,
        ...QUIET,
        ...env,
        ...own,
        CLOUDFLARE_API_BASE_URL: apiUrl,
        CLOUDFLARE_API_TOKEN: TOKEN,
      },
    });
    const code = await command.ended;
    const output = command.output();
    printed.push(output);
    return { code, output };
  }

  const run = (...args: string[]) => runWith({}, ...args);

  /** Runs a command again and again while each of these changes fails once; answers how often it had to be run. */
  async function insist(changes: RegExp, ...args: string[]): Promise<number> {
    account.failing = changes;
    for (let attempt = 1; attempt <= 40; attempt++) {
      const { code, output } = await run(...args);
      if (code === 0) {
        account.failing = null;
        return attempt;
      }
      expect(output).toContain('Run the same command again to continue from this step.');
    }
    throw new Error('it never succeeded');
  }

  function deployed(name: string) {
    const script = account.scripts.get(`attribution-${name}`);
    if (!script) throw new Error(`${name} has no Worker`);
    const binding = (type: string): Binding | undefined => script.bindings.find((row) => row.type === type);
    const queues = [...account.queues.values()].filter(({ queue_name }) =>
      queue_name.startsWith(`attribution-${name}-`),
    );
    return {
      script,
      database: String(binding('d1')?.id),
      queue: binding('queue')?.queue_name,
      producers: script.bindings.flatMap((row) =>
        row.type === 'queue' ? [`${row.name} ${row.queue_name}`] : [],
      ),
      queues,
      limits: script.bindings.flatMap((row) => (row.type === 'ratelimit' ? [String(row.namespace_id)] : [])),
      secrets: [...script.secrets.values()],
    };
  }

  async function stop(): Promise<void> {
    account.close();
    await rm(folder, { recursive: true, force: true });
  }

  return { folder, config, original, account, apiUrl, printed, run, runWith, insist, deployed, stop };
}
