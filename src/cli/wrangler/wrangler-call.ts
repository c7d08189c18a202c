import path from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT } from '../local-state.ts';
import { findAncestor } from './processes.ts';

/** The command of wrangler that runs this build, and what it was called with. */
export type WranglerCall = {
  /** `dev`, `deploy`, `versions upload` or `types`; undefined if wrangler does not run it. */
  command: string | undefined;
  /** The process of wrangler. */
  pid: number;
  env: string | undefined;
  config: string | undefined;
  state: string | undefined;
  hasSecretsFile: boolean;
  isDryRun: boolean;
};

const OPTIONS = {
  env: { type: 'string', short: 'e' },
  config: { type: 'string', short: 'c' },
  'persist-to': { type: 'string' },
  'env-file': { type: 'string', multiple: true },
  'dry-run': { type: 'boolean' },
} as const;

/**
 * What wrangler was called with. It tells a custom build the command by WRANGLER_COMMAND, but not the options: those are read from the process,
 * where the system shows them.
 */
export async function findWranglerCall(): Promise<WranglerCall> {
  const command = process.env.WRANGLER_COMMAND;
  const [verb = ''] = (command ?? '').split(' ');
  const found = command
    ? await findAncestor(({ args }) => args.some(isWrangler) && args.includes(verb))
    : null;
  const args = found?.args.slice(found.args.findIndex(isWrangler) + 1) ?? [];
  return {
    command,
    pid: found?.pid ?? process.ppid,
    ...readOptions(args),
  };
}

const isWrangler = (argument: string) => /[\\/]wrangler[\\/].*\.js$/.test(argument);

/** Pure. Options that are not asked for are skipped; `CLOUDFLARE_ENV` names the environment, too. */
export function readOptions(
  args: readonly string[],
  cloudflareEnv: string | undefined = process.env.CLOUDFLARE_ENV,
): Omit<WranglerCall, 'command' | 'pid'> {
  const { values } = parseArgs({ args: [...args], options: OPTIONS, strict: false });
  const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);
  const state = text(values['persist-to']);
  return {
    env: text(values.env) ?? (cloudflareEnv || undefined),
    config: text(values.config),
    state: state && path.resolve(state),
    hasSecretsFile: values['env-file'] !== undefined,
    isDryRun: values['dry-run'] === true,
  };
}

/** The configuration that wrangler was called with. */
export const configFile = ({ config }: Pick<WranglerCall, 'config'>): string =>
  path.resolve(ROOT, config ?? 'wrangler.toml');
